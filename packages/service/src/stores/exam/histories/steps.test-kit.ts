import fc from 'fast-check'
import { laneKind } from '@secondwind/resilience/rules'
import type { Queue, TaskStatus } from '../../../task/task.ts'
import { TASK_STATUSES } from '../../../task/task.ts'
import type { ListOrder } from '../../store.ts'

/**
 * One step of a history, as plain data: numbers that point at tasks, claims and queues that exist when the step is made,
 * the newest first. So a history can be printed, shortened and made again.
 */
export type Step =
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'jump-wall'; readonly ms: number }
  | { readonly kind: 'enqueue'; readonly items: readonly Item[] }
  | { readonly kind: 'beat'; readonly isOther: boolean; readonly tasks: number; readonly lanes: number }
  | { readonly kind: 'take'; readonly partition: number; readonly isStale: boolean }
  | { readonly kind: 'give'; readonly partition: number; readonly isStale: boolean }
  | { readonly kind: 'claim'; readonly claims: readonly ClaimStep[] }
  | { readonly kind: 'settle'; readonly ends: readonly EndStep[] }
  | { readonly kind: 'settle-ended'; readonly result: EndStep['result'] }
  | { readonly kind: 'leases-of'; readonly claim: number }
  | ({ readonly kind: 'expire' } & ExpireStep)
  | ({ readonly kind: 'recall' } & RecallStep)
  | { readonly kind: 'remember'; readonly partition: number; readonly isStale: boolean; readonly value: number }
  | ({ readonly kind: 'cancel' } & OperateStep)
  | ({ readonly kind: 'attempt-now' } & OperateStep)
  | ({ readonly kind: 'replay' } & ReplayStep)
  | { readonly kind: 'tell'; readonly partitions: readonly number[]; readonly perLane: number; readonly told: number }
  | { readonly kind: 'write'; readonly writes: readonly WriteStep[]; readonly isNoted: boolean }
  | { readonly kind: 'put-body'; readonly body: number; readonly mostBytes: number; readonly neededMs: number }
  | { readonly kind: 'need-bodies'; readonly bodies: readonly number[]; readonly neededMs: number }
  | { readonly kind: 'sweep-bodies'; readonly unneededMs: number }
  | ({ readonly kind: 'list' } & ListStep)
  | { readonly kind: 'sweep'; readonly finishedMs: number; readonly deadMs: number; readonly auditMs: number }

export type StepOf<Kind extends Step['kind']> = Extract<Step, { readonly kind: Kind }>

/** The version that a change names: none, the one that was read, or an earlier one. */
export type AskedVersion = 'any' | 'read' | 'older'

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
  /** 0: it has none. */
  readonly callback: number
}

export interface ClaimStep {
  readonly partition: number
  readonly isStale: boolean
  readonly asks: readonly AskStep[]
}

export interface AskStep {
  readonly queue: number
  readonly count: number
  readonly limit: number
  readonly end: 'front' | 'back'
}

export interface EndStep {
  readonly claim: number
  readonly result: 'success' | 'retry' | 'dead' | 'unsent' | 'put-back'
  readonly error: number
  readonly delayMs: number
}

export interface ExpireStep {
  readonly partition: number
  readonly queue: number
  readonly limit: number
  readonly heldBy: 'none' | 'credit' | 'paused'
}

export interface RecallStep {
  readonly partition: number
  readonly isStale: boolean
  readonly tasks: readonly { readonly task: number; readonly dueInMs: number }[]
}

export interface OperateStep {
  readonly task: number
  readonly version: AskedVersion
  readonly isNoted: boolean
}

export interface ReplayStep {
  readonly tasks: readonly number[]
  /** Of two replays that count; 2: of none. */
  readonly replay: number
  readonly dueInMs: number
  readonly isStale: boolean
  /** Heeded if it is one task. */
  readonly version: AskedVersion
  readonly isNoted: boolean
}

export interface WriteStep {
  readonly record: number
  readonly value: number
  readonly isRemoval: boolean
  readonly version: AskedVersion
}

export interface ListStep {
  readonly order: ListOrder
  readonly limit: number
  readonly tenant: string | undefined
  readonly status: TaskStatus | undefined
  readonly lane: number | undefined
  readonly policyId: string | undefined
  readonly key: number | undefined
  readonly attemptFrom: number | undefined
  readonly errorCode: string | undefined
  readonly createdFromMs: number | undefined
  readonly createdToMs: number | undefined
  readonly reason: 'attempts' | 'deadline' | undefined
  readonly cause: number | undefined
  readonly endedFromMs: number | undefined
  readonly endedToMs: number | undefined
}

const pointer = fc.nat(12)
const partition = fc.nat(1)
const isStale = rarely()
const isNoted = fc.boolean()
const version = fc.constantFrom<AskedVersion>('any', 'any', 'read', 'older')
const result = fc.constantFrom<EndStep['result']>('success', 'retry', 'retry', 'dead', 'dead', 'unsent', 'put-back')
const agoMs = fc.constantFrom(0, 1, 5_000, 40_000)
const aheadMs = fc.constantFrom(-5_000, 0, 1_000, 40_000)

const item: fc.Arbitrary<Item> = fc.record({
  lane: fc.nat(2),
  queue: fc.record(
    {
      policyId: fc.constantFrom('default', 'payments'),
      kind: fc.constantFrom(...laneKind.START_KINDS),
      rank: fc.constantFrom('normal', 'normal', 'low'),
    },
    // It becomes part of tasks, and a store answers with plain objects.
    { noNullPrototype: true },
  ),
  dueInMs: fc.constantFrom(0, 0, 0, 1_000, 20_000),
  expiresInMs: fc.constantFrom(60_000, 600_000, 5_000),
  leaseMs: fc.constantFrom(10_000, 30_000),
  attemptsMade: fc.constantFrom(0, 0, 0, 3),
  key: fc.constantFrom('none', 'none', 'one of four', 'one of four', 'id of a task', 'as before'),
  which: pointer,
  isOtherRequest: rarely(),
  callback: fc.constantFrom(0, 0, 1, 2),
})

const claim: fc.Arbitrary<ClaimStep> = fc.record({
  partition,
  isStale,
  asks: many(
    fc.record({
      queue: fc.nat(5),
      count: fc.constantFrom(10, 10, 2, 1, 0),
      limit: fc.constantFrom(100, 100, 100, 3, 1, 0),
      end: fc.constantFrom('front', 'front', 'back'),
    }),
    4,
  ),
})

const end: fc.Arbitrary<EndStep> = fc.record({
  claim: pointer,
  result,
  error: fc.nat(2),
  delayMs: fc.constantFrom(0, 1_000, 20_000),
})

const recalled = fc.record({ task: pointer, dueInMs: fc.constantFrom(-1_000, 0, 700, 10_000) })
const write = fc.record({ record: fc.nat(6), value: fc.nat(3), isRemoval: rarely(), version })

export const step: fc.Arbitrary<Step> = fc.oneof(
  often(6, { kind: fc.constant('advance'), ms: fc.constantFrom(1, 500, 5_000, 11_000, 31_000, 31_000) }),
  often(1, { kind: fc.constant('jump-wall'), ms: fc.constantFrom(-3_600_000, 3_600_000, 90_000_000) }),
  often(8, { kind: fc.constant('enqueue'), items: many(item, 6) }),
  often(1, {
    kind: fc.constant('beat'),
    isOther: fc.boolean(),
    tasks: fc.integer({ min: 1, max: 4 }),
    lanes: fc.constantFrom(1, 2),
  }),
  often(4, { kind: fc.constant('take'), partition, isStale }),
  often(1, { kind: fc.constant('give'), partition, isStale }),
  often(9, { kind: fc.constant('claim'), claims: many(claim, 2) }),
  often(9, { kind: fc.constant('settle'), ends: many(end, 6) }),
  often(3, { kind: fc.constant('settle-ended'), result }),
  often(1, { kind: fc.constant('leases-of'), claim: pointer }),
  often(2, {
    kind: fc.constant('expire'),
    partition,
    queue: fc.nat(5),
    limit: fc.constantFrom(1, 2, 50),
    heldBy: fc.constantFrom('none', 'credit', 'paused'),
  }),
  often(3, { kind: fc.constant('recall'), partition, isStale, tasks: fc.array(recalled, { maxLength: 4 }) }),
  often(1, { kind: fc.constant('remember'), partition, isStale, value: fc.nat(5) }),
  often(3, { kind: fc.constant('cancel'), task: pointer, version, isNoted }),
  often(3, { kind: fc.constant('attempt-now'), task: pointer, version, isNoted }),
  often(5, {
    kind: fc.constant('replay'),
    tasks: many(pointer, 4),
    replay: fc.nat(2),
    dueInMs: fc.constantFrom(0, 0, 1_000, -1_000),
    isStale,
    version,
    isNoted,
  }),
  often(2, {
    kind: fc.constant('tell'),
    partitions: fc.constantFrom([0], [1], [1, 0]),
    perLane: fc.constantFrom(1, 2, 100),
    told: fc.nat(3),
  }),
  often(3, { kind: fc.constant('write'), writes: many(write, 3), isNoted }),
  often(2, {
    kind: fc.constant('put-body'),
    body: fc.nat(3),
    mostBytes: fc.constantFrom(1_000, 1_000, 20),
    neededMs: aheadMs,
  }),
  often(1, { kind: fc.constant('need-bodies'), bodies: many(fc.nat(3), 3), neededMs: aheadMs }),
  often(1, { kind: fc.constant('sweep-bodies'), unneededMs: agoMs }),
  often(5, {
    kind: fc.constant('list'),
    order: fc.constantFrom('newest-first', 'oldest-death-first', 'due-first'),
    limit: fc.constantFrom(1, 3, 50),
    tenant: fc.constantFrom('acme', 'acme', 'other', undefined),
    status: seldom(fc.constantFrom('EXHAUSTED', 'EXHAUSTED', ...TASK_STATUSES)),
    lane: seldom(fc.nat(2)),
    policyId: seldom(fc.constantFrom('default', 'payments')),
    key: seldom(pointer),
    attemptFrom: seldom(fc.nat(2)),
    errorCode: seldom(fc.constantFrom('http-503', 'lost')),
    createdFromMs: seldom(agoMs),
    createdToMs: seldom(agoMs),
    reason: seldom(fc.constantFrom('attempts', 'deadline')),
    cause: seldom(fc.nat(3)),
    endedFromMs: seldom(agoMs),
    endedToMs: seldom(agoMs),
  }),
  often(2, { kind: fc.constant('sweep'), finishedMs: agoMs, deadMs: agoMs, auditMs: agoMs }),
)

/** False, but for one time in eight; shrinks to false. */
function rarely(): fc.Arbitrary<boolean> {
  return fc.nat(7).map(n => n === 7)
}

/** One time in four. */
function seldom<Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary })
}

function many<Value>(arbitrary: fc.Arbitrary<Value>, most: number): fc.Arbitrary<Value[]> {
  return fc.array(arbitrary, { minLength: 1, maxLength: most })
}

function often(
  weight: number,
  fields: { readonly [field: string]: fc.Arbitrary<unknown> },
): { weight: number; arbitrary: fc.Arbitrary<Step> } {
  return { weight, arbitrary: fc.record(fields) as fc.Arbitrary<Step> }
}
