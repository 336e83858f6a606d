import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { programFromDebian } from '../../../scripts/servers/debian.ts'
import { MissingProgramError } from '../../../scripts/servers/missing.ts'
import { inOwnProcess } from '../../runner.ts'

export interface Load {
  readonly url: string
  readonly seconds: number
  /** Begins every key that callers choose: no two loads ask for the same task. */
  readonly keyPrefix: string
  /** Goes along with every request. */
  readonly accessKey?: string
}

export interface LoadResult {
  readonly perSecond: number
  readonly p99Ms: number
}

export const CONNECTIONS = 64

/** Posts tasks over 64 connections, from a process of its own: wrk where it can be had, else undici. */
export async function load(task: Load): Promise<LoadResult> {
  const wrk = findWrk()
  if (wrk !== undefined) return loadByWrk(wrk, task)
  const line = ['undici-load.ts', JSON.stringify(task)]
  return inOwnProcess(line, { cwd: import.meta.dirname, timeoutMs: task.seconds * 1_000 + 30_000 })
}

function findWrk(): string | undefined {
  try {
    return programFromDebian('wrk')
  } catch (error) {
    if (!(error instanceof MissingProgramError)) throw error
    process.stderr.write(`skipped: ${error.message}; undici takes its place, which leaves less for the server\n`)
    return undefined
  }
}

async function loadByWrk(wrk: string, { url, seconds, keyPrefix, accessKey = '' }: Load): Promise<LoadResult> {
  const script = join(import.meta.dirname, 'tasks.lua')
  const line = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--latency', '-s', script, url, '--', keyPrefix, accessKey]
  const { stdout } = await promisify(execFile)(wrk, line)
  return readWrk(stdout)
}

/** What wrk prints is for people; a refusal or a broken socket is no figure. */
export function readWrk(text: string): LoadResult {
  const failures = /Non-2xx or 3xx responses: .*|Socket errors: .*/.exec(text)?.[0]
  if (failures !== undefined) throw new Error(`the load met failures: ${failures}`)
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1])
  const [, amount, unit] = /99%\s+([\d.]+)(us|ms|s)\b/.exec(text) ?? []
  const p99Ms = Number(amount) * (MS_OF[unit ?? ''] ?? Number.NaN)
  if (!Number.isFinite(perSecond) || !Number.isFinite(p99Ms)) throw new Error(`wrk said something else: ${text}`)
  return { perSecond, p99Ms }
}

const MS_OF: { readonly [unit: string]: number } = { us: 1e-3, ms: 1, s: 1e3 }
