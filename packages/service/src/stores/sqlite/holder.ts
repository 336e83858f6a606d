/** Who works in a data directory, told beside its lock: the lock itself says only that somebody does. */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from './connection.ts'
import { faultOf } from './faults.ts'

export const LOCK_FILE = 'lock'

export interface Holder {
  readonly pid: number
  /** Where it answers, and the name that it gave itself at its start: known as soon as it listens. */
  readonly url?: string
  readonly instance?: string
}

export type Holding =
  | { readonly kind: 'free' }
  /** Whoever asks may not look at the lock. */
  | { readonly kind: 'unknown' }
  /** Without a holder: it has not said yet who it is. */
  | { readonly kind: 'held'; readonly holder?: Holder }

/** Looks at the lock without taking it. */
export function holdingOf(directory: string): Holding {
  const path = join(directory, LOCK_FILE)
  try {
    // A lock that may not be looked at is not a lock that is not there.
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return { kind: 'free' }
    const lock = connect(path, { readOnly: true, busyTimeoutMs: 0 })
    try {
      lock.row('select count(*) from sqlite_schema')()
    } finally {
      lock.close()
    }
    return { kind: 'free' }
  } catch (error) {
    if (faultOf(error, path)?.code !== 'store-in-use') return { kind: 'unknown' }
    const holder = readHolder(directory)
    return { kind: 'held', ...(holder && { holder }) }
  }
}

/** Only whoever has the lock calls it. */
export function writeHolder(directory: string, { pid, url = '', instance = '' }: Holder): void {
  try {
    writeFileSync(notePath(directory), `${pid}\n${url}\n${instance}\n`, { mode: 0o600 })
  } catch {
    // It is for people who ask: a full disk is no reason not to start.
  }
}

export function readHolder(directory: string): Holder | undefined {
  try {
    const [pid, url = '', instance] = readFileSync(notePath(directory), 'utf8').split('\n')
    if (!/^[1-9]\d*$/.test(pid!)) return undefined
    return { pid: Number(pid), ...(URL.canParse(url) && { url }), ...(instance && { instance }) }
  } catch {
    return undefined
  }
}

function notePath(directory: string): string {
  return join(directory, `${LOCK_FILE}.pid`)
}
