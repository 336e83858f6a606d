import fc from 'fast-check'
import { laneKind } from '@secondwind/resilience/rules'
import type { Queue } from '../../task/task.ts'

/**
 * One step of a history, as plain data: numbers that point at what there is when the step is made, the newest first. So a
 * history can be printed, shortened and made again.
 */
/** Of what a step changes: whatever it is, what it was when it was read, or one that is past. */
export type AskedVersion = 'any' | 'read' | 'older'

export type Step =
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'jump-wall'; readonly ms: number }
  | {
      readonly kind: 'enqueue'
      readonly items: readonly Item[]
      readonly perLane: number
      readonly total: number
      readonly lanes: number
    }
  | { readonly kind: 'take'; readonly partition: number; readonly isStale: boolean }
  | { readonly kind: 'give'; readonly partition: number; readonly isStale: boolean }
  | { readonly kind: 'claim'; readonly partition: number; readonly isStale: boolean; readonly asks: readonly AskStep[] }
  | { readonly kind: 'settle'; readonly ends: readonly EndStep[] }
  | { readonly kind: 'release'; readonly claims: readonly number[] }
  | { readonly kind: 'settle-ended'; readonly partition: number; readonly result: EndStep['result'] }
  | { readonly kind: 'leases-of'; readonly claim: number }
  | {
      readonly kind: 'expire'
      readonly partition: number
      readonly queue: number
      readonly limit: number
      readonly heldBy: 'none' | 'credit' | 'paused'
    }
  | {
      readonly kind: 'recall'
      readonly partition: number
      readonly isStale: boolean
      readonly tasks: readonly { readonly task: number; readonly dueInMs: number }[]
    }
  | { readonly kind: 'remember'; readonly partition: number; readonly isStale: boolean; readonly value: number }
  | { readonly kind: 'cancel'; readonly task: number; readonly version: AskedVersion }
  | { readonly kind: 'attempt-now'; readonly task: number; readonly version: AskedVersion }
  | { readonly kind: 'replay'; readonly task: number; readonly isStale: boolean; readonly version: AskedVersion }
  | {
      readonly kind: 'replay-many'
      readonly tasks: readonly number[]
      readonly replay: number
      readonly dueInMs: number
      readonly lanes: number
    }
  | { readonly kind: 'forget-replay'; readonly replay: number }
  | {
      readonly kind: 'put-policy'
      readonly policy: number
      readonly value: number
      readonly version: AskedVersion
    }
  | { readonly kind: 'put-body'; readonly body: number; readonly mostBytes: number }
  | { readonly kind: 'sweep-bodies'; readonly unusedMs: number }
  | { readonly kind: 'sweep-lanes' }
  | { readonly kind: 'sweep'; readonly finishedMs: number; readonly deadMs: number; readonly keysMs: number }

export interface Item {
  readonly lane: number
  readonly queue: Queue
  readonly dueInMs: number
  readonly expiresInMs: number
  readonly leaseMs: number
  readonly attemptsMade: number
  readonly key: 'none' | 'one of four' | 'id of a task' | 'as before'
  readonly which: number
  readonly isOtherRequest: boolean
  readonly body: 'none' | 'kept' | 'uploaded'
}

export interface AskStep {
  readonly queue: number
  readonly count: number
  readonly limit: number
  readonly end: 'front' | 'back'
}

export interface EndStep {
  readonly claim: number
  readonly result: 'success' | 'retry' | 'dead' | 'unsent'
  readonly error: number
  readonly delayMs: number
}

const pointer = fc.nat(12)
const partition = fc.nat(1)
const isStale = rarely()
const version = fc.constantFrom<AskedVersion>('any', 'any', 'read', 'older')
const result: fc.Arbitrary<EndStep['result']> = fc.constantFrom('success', 'retry', 'retry', 'dead', 'unsent')

const queue: fc.Arbitrary<Queue> = fc.record(
  {
    policyId: fc.constantFrom('default', 'payments'),
    kind: fc.constantFrom(...laneKind.START_KINDS),
    rank: fc.constantFrom('normal', 'low'),
  },
  // It becomes part of tasks, and what a store gives back is an object like any other.
  { noNullPrototype: true },
)

const item: fc.Arbitrary<Item> = fc.record({
  lane: fc.nat(2),
  queue,
  dueInMs: fc.constantFrom(0, 0, 0, 1_000, 20_000),
  expiresInMs: fc.constantFrom(60_000, 600_000, 5_000),
  leaseMs: fc.constantFrom(10_000, 30_000),
  attemptsMade: fc.constantFrom(0, 0, 0, 3),
  key: fc.constantFrom('none', 'none', 'one of four', 'one of four', 'id of a task', 'as before'),
  which: pointer,
  isOtherRequest: rarely(),
  body: fc.constantFrom('none', 'none', 'none', 'kept', 'uploaded'),
})

const end: fc.Arbitrary<EndStep> = fc.record({
  claim: pointer,
  result,
  error: fc.nat(2),
  delayMs: fc.constantFrom(0, 1_000, 20_000),
})

const anAsk: fc.Arbitrary<AskStep> = fc.record({
  queue: fc.nat(5),
  count: fc.constantFrom(1, 2, 10, 0),
  limit: fc.constantFrom(100, 3, 1, 0),
  end: fc.constantFrom('front', 'front', 'back'),
})

export const step: fc.Arbitrary<Step> = fc.oneof(
  often(6, { kind: fc.constant('advance'), ms: fc.constantFrom(1, 500, 5_000, 11_000, 31_000, 31_000) }),
  often(1, { kind: fc.constant('jump-wall'), ms: fc.constantFrom(-3_600_000, 3_600_000, 90_000_000) }),
  often(8, {
    kind: fc.constant('enqueue'),
    items: fc.array(item, { minLength: 1, maxLength: 4 }),
    perLane: fc.constantFrom(1_000, 1_000, 2, 4),
    total: fc.constantFrom(1_000, 1_000, 1_000, 5, 12),
    lanes: fc.constantFrom(1_000, 1_000, 1_000, 1, 2, 3),
  }),
  often(2, { kind: fc.constant('take'), partition, isStale }),
  often(1, { kind: fc.constant('give'), partition, isStale }),
  often(9, {
    kind: fc.constant('claim'),
    partition,
    isStale,
    asks: fc.array(anAsk, { minLength: 1, maxLength: 4 }),
  }),
  often(8, { kind: fc.constant('settle'), ends: fc.array(end, { minLength: 1, maxLength: 4 }) }),
  often(3, { kind: fc.constant('release'), claims: fc.array(pointer, { minLength: 1, maxLength: 3 }) }),
  often(3, { kind: fc.constant('settle-ended'), partition, result }),
  often(1, { kind: fc.constant('leases-of'), claim: pointer }),
  often(2, {
    kind: fc.constant('expire'),
    partition,
    queue: fc.nat(5),
    limit: fc.constantFrom(1, 2, 50),
    heldBy: fc.constantFrom('none', 'credit', 'paused'),
  }),
  often(3, {
    kind: fc.constant('recall'),
    partition,
    isStale,
    tasks: fc.array(fc.record({ task: pointer, dueInMs: fc.constantFrom(-1_000, 0, 700, 10_000) }), { maxLength: 4 }),
  }),
  often(1, { kind: fc.constant('remember'), partition, isStale, value: fc.nat(5) }),
  often(3, { kind: fc.constant('cancel'), task: pointer, version }),
  often(3, { kind: fc.constant('attempt-now'), task: pointer, version }),
  often(4, { kind: fc.constant('replay'), task: pointer, isStale, version }),
  often(4, {
    kind: fc.constant('replay-many'),
    tasks: fc.array(pointer, { minLength: 1, maxLength: 4 }),
    replay: fc.nat(1),
    dueInMs: fc.constantFrom(0, 0, 1_000, -1_000),
    lanes: fc.constantFrom(1_000, 1_000, 1, 2),
  }),
  often(1, { kind: fc.constant('forget-replay'), replay: fc.nat(1) }),
  often(1, { kind: fc.constant('put-policy'), policy: fc.nat(1), value: fc.nat(2), version }),
  often(2, { kind: fc.constant('put-body'), body: fc.nat(2), mostBytes: fc.constantFrom(1_000, 1_000, 20) }),
  often(1, { kind: fc.constant('sweep-bodies'), unusedMs: fc.constantFrom(0, 5_000, 40_000) }),
  often(1, { kind: fc.constant('sweep-lanes') }),
  often(2, {
    kind: fc.constant('sweep'),
    finishedMs: fc.constantFrom(0, 5_000, 40_000),
    deadMs: fc.constantFrom(0, 5_000, 40_000),
    keysMs: fc.constantFrom(0, 5_000),
  }),
)

/** False, but for one time in eight; shrinks to false. */
function rarely(): fc.Arbitrary<boolean> {
  return fc.nat(7).map(n => n === 7)
}

function often(
  weight: number,
  fields: { readonly [field: string]: fc.Arbitrary<unknown> },
): { weight: number; arbitrary: fc.Arbitrary<Step> } {
  return { weight, arbitrary: fc.record(fields) as fc.Arbitrary<Step> }
}
