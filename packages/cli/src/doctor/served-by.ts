/** Whether the directory and the service that were looked at belong together: else the report is of two services. */
import type { Holding } from '@secondwind/service'
import { ok, warn, type Finding } from './finding.ts'

/** The service that was asked; `instance` where it answered. */
export interface Asked {
  readonly url: string
  readonly instance?: string
}

interface Served {
  readonly directory: string
  readonly holding: Holding
  readonly asked: Asked
  /** A line that looks at the directory with the service at this address. */
  readonly lookAt: (url: string) => string
}

/** Undefined where nobody can tell. */
export function isServedBy({ instance }: Asked, holding: Holding): boolean | undefined {
  if (instance === undefined || holding.kind === 'unknown') return undefined
  if (holding.kind === 'free') return false
  return holding.holder?.instance === undefined ? undefined : holding.holder.instance === instance
}

export function checkServed({ directory, holding, asked, lookAt }: Served): readonly Finding[] {
  const isServed = isServedBy(asked, holding)
  if (isServed) return [ok('data', `The service at ${asked.url} works in ${directory}.`)]
  if (holding.kind === 'held') {
    const { pid, url } = holding.holder ?? {}
    const who = pid === undefined ? 'another process' : `process ${pid}`
    const where = url === undefined ? '' : `, which answers at ${url}`
    const other = isServed === false ? `, and not by the service at ${asked.url}: this report is of two` : ''
    const next = url === undefined ? 'say where that one answers: --url' : lookAt(url)
    return [warn('data', `${directory} is in use by ${who}${where}${other}.`, next)]
  }
  if (isServed === undefined) return []
  const say = `No service works in ${directory}: the one at ${asked.url} keeps its data elsewhere, and this report is of both.`
  return [warn('data', say, 'say where that one keeps it: --data')]
}
