import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { digits } from '../report.ts'
import { quantile } from '../statistics.ts'

const WRITES = 300
const PAGE = Buffer.alloc(4_096, 1)
/** No disk is as fast as this: the folder lies in memory, or its file system does not sync. */
const LEAST_CREDIBLE_MS = 0.01

/** How long the disk takes to keep 4 KiB, in words: every durable figure is a multiple of it. */
export function describeDisk(folder: string): string {
  const path = join(folder, 'fdatasync')
  const file = openSync(path, 'w')
  const elapsedMs = Array.from({ length: WRITES }, () => {
    const begunAt = performance.now()
    writeSync(file, PAGE)
    fdatasyncSync(file)
    return performance.now() - begunAt
  }).toSorted((a, b) => a - b)
  closeSync(file)
  rmSync(path)
  const median = quantile(elapsedMs, 0.5)
  const words = `disk of ${folder}: 4 KiB append + fdatasync ${digits(median)} ms median, ${digits(quantile(elapsedMs, 0.99))} ms p99`
  return median > LEAST_CREDIBLE_MS ? words : `${words}; no disk is that fast: set TMPDIR to a folder on one`
}
