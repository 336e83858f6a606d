import { createHash } from 'node:crypto'
import { globSync, readFileSync, statSync } from 'node:fs'

/** All that a build reads, and all that it made. */
const PARTS = [
  'package-lock.json',
  'tsconfig*.json',
  'packages/*/{package,tsconfig*}.json',
  'packages/*/{src,dist}/**/*',
]

/** The same as long as nothing has become of them. By content: a checkout, a copy or a clock sets times as it likes. */
export function fingerprintOf(folder: string): string {
  const hash = createHash('sha256')
  const paths = globSync(PARTS, { cwd: folder }).toSorted()
  for (const path of paths) {
    const place = `${folder}/${path}`
    if (!statSync(place).isFile()) continue
    const content = readFileSync(place)
    hash.update(`${path}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}
