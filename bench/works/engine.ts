/** E: the floors of `RetryEngine`, far below what it does; they catch a blunder, not a regression. */
import type { Engine } from '../contenders/contender.ts'
import { quantile } from '../statistics.ts'
import type { LibraryWork } from './work.ts'

const CALLERS = 20
const SUCCESSES = 20_000
const RETRIED = 4_000

export const engine: LibraryWork = {
  id: 'E',
  title: 'RetryEngine, 20 callers: successes, then operations with one retry each',
  contenders: ['secondwind'],
  figures: [
    { key: 'successesPerSecond', label: 'successes per second' },
    { key: 'successP99Ms', label: 'p99 of a success, ms' },
    { key: 'retriedPerSecond', label: 'operations with one retry per second' },
    { key: 'retriedP99Ms', label: 'p99 of an operation with one retry, ms' },
  ],
  bars: [
    { figure: 'successesPerSecond', sign: '≥', limit: 500 },
    { figure: 'successP99Ms', sign: '<', limit: 25 },
    { figure: 'retriedPerSecond', sign: '≥', limit: 200 },
    { figure: 'retriedP99Ms', sign: '<', limit: 75 },
  ],
  run: async calls => {
    const subject = calls.newEngine!()
    subject.configure(3, 10, 2, 100)
    const warmUp = { count: 1_000, name: 'warm-up', newAction: failingOnce }
    await load(subject, warmUp)
    const successes = await load(subject, { count: SUCCESSES, name: 'success', newAction: succeeding })
    const retried = await load(subject, { count: RETRIED, name: 'retried', newAction: failingOnce })
    return {
      successesPerSecond: successes.perSecond,
      successP99Ms: successes.p99Ms,
      retriedPerSecond: retried.perSecond,
      retriedP99Ms: retried.p99Ms,
    }
  },
}

interface Load {
  readonly count: number
  readonly name: string
  readonly newAction: () => () => boolean
}

async function load(subject: Engine, { count, name, newAction }: Load): Promise<{ perSecond: number; p99Ms: number }> {
  const latenciesMs: number[] = []
  let started = 0
  const caller = async () => {
    while (started < count) {
      const operationId = `${name}-${started++}`
      const startedAt = performance.now()
      const hasSucceeded = await subject.execute(operationId, newAction())
      latenciesMs.push(performance.now() - startedAt)
      if (!hasSucceeded) throw new Error(`${operationId} failed`)
    }
  }
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: CALLERS }, caller))
  const elapsedMs = performance.now() - startedAt
  latenciesMs.sort((a, b) => a - b)
  return { perSecond: (count * 1_000) / elapsedMs, p99Ms: quantile(latenciesMs, 0.99) }
}

function succeeding(): () => boolean {
  return () => true
}

function failingOnce(): () => boolean {
  let hasFailed = false
  return () => {
    if (hasFailed) return true
    hasFailed = true
    return false
  }
}
