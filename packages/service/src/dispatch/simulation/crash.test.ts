import assert from 'node:assert/strict'
import { DEFAULT_LANE } from '@secondwind/resilience/rules'
import { describe, it } from 'vitest'
import { laneKey, partitionOf } from '../../task/lane.ts'
import { partitionsOf, WELL, type Fate } from './faulty-store.test-kit.ts'
import type { SimulatedProcess } from './instance.test-kit.ts'
import { Ledger } from './ledger.test-kit.ts'
import type { Behaviour } from './scripted-target.test-kit.ts'
import { World } from './world.test-kit.ts'

const LANE = { tenant: 'acme', destination: 'https://api.example' }
const PARTITION = partitionOf(laneKey(LANE))

/** Two answers that fail, then only good ones. */
const ANSWERS: readonly Behaviour[] = [
  { kind: 'answers', status: 503, ms: 10 },
  { kind: 'answers', status: 404, ms: 10 },
]

/** The step at which the first process dies: a call to the store, carried out or not, or a request on its way. */
interface Crash {
  readonly step: number
  readonly isApplied: boolean
}

function isElsewhere(ask: unknown): boolean {
  const partitions = partitionsOf(ask)
  return partitions.length > 0 && !partitions.includes(PARTITION)
}

/** A short life: three tasks, one of them retried, one given up. Returns how many steps it had. */
async function live(crash: Crash): Promise<number> {
  let steps = 0
  let requests = 0
  const isLast = (process: SimulatedProcess): boolean => {
    if (process.name !== 'first' || steps++ !== crash.step) return false
    process.kill()
    return true
  }
  const fateOf = (process: SimulatedProcess, verb: string, ask: unknown): Fate => {
    if (isElsewhere(ask) || verb === 'beat' || !isLast(process)) return WELL
    return { ...WELL, isApplied: crash.isApplied, answer: 'silence' }
  }
  const world: World = new World({
    slots: 3,
    fateOf,
    policy: { attemptTimeoutMs: 1_000, initialDelayMs: 100, jitterType: 'NONE', totalBudgetMs: 120_000 },
    behaviourOf: () => ANSWERS[requests++] ?? { kind: 'answers', status: 200, ms: 10 },
    onRequest: request => {
      ledger.onRequest(request)
      isLast(request.process)
    },
  })
  const ledger = new Ledger(world, {
    limit: 100,
    rate: { perSecond: 1e9, burst: 1e9 },
    minRetries: 100,
    credit: DEFAULT_LANE.credit,
    isUnbroken: false,
    isKind: false,
    isCalm: false,
    isAlone: false,
    areClocksRight: true,
  })
  world.start('first')
  await world.clock.advance(10)
  await world.enqueueMany(3, LANE)
  await world.clock.advance(500)
  world.start('second')
  await world.finish(60_000)
  await ledger.close()
  assert.equal((await world.count('succeeded')) + (await world.count('exhausted')), 3)
  return steps
}

describe('a process that dies', () => {
  it('at any step of its work, done or not, leaves nothing that its successor does not finish', async () => {
    const steps = await live({ step: Infinity, isApplied: true })
    assert.ok(steps > 12, `${steps} steps`)
    for (let step = 0; step < steps; step++)
      for (const isApplied of [false, true])
        await live({ step, isApplied }).catch((cause: unknown) => {
          throw new Error(`died at step ${step}, ${isApplied ? 'done' : 'not done'}: ${String(cause)}`, { cause })
        })
  }, 60_000)
})
