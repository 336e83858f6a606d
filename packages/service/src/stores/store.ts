/**
 * What the service asks of a store: five ports, 34 verbs. The meaning of each word is an exam that every store sits
 * (`store.conformance.ts`). A store may be put together of several that each serve some of the ports.
 */
import type { BodyIndex } from './body-index.ts'
import type { FleetStore } from './fleet-store.ts'
import type { HistoryStore } from './history-store.ts'
import type { QueueStore } from './queue-store.ts'
import type { RecordStore } from './record-store.ts'
import type { StoreUnavailableError } from './store-errors.ts'

export type * from './body-index.ts'
export type * from './fleet-store.ts'
export type * from './history-store.ts'
export * from './queue-store.ts'
export * from './record-store.ts'
export * from './store-errors.ts'

export interface Store extends QueueStore, FleetStore, RecordStore, HistoryStore, BodyIndex {
  readonly kind: string
  /** What acknowledged work survives: the end of the process, or the loss of power too. */
  readonly durability: 'none' | 'power-loss'
  health(): Promise<StoreHealth>
  /** Finishes what was asked before, and refuses what comes after. */
  close(): Promise<void>
}

export interface Answer {
  /** The store's clock, in ms since the epoch, when the call was applied. */
  readonly now: number
}

export interface Page<Item> {
  readonly items: readonly Item[]
  /** Absent at the end. */
  readonly nextCursor?: string
}

export interface PageAsk {
  readonly cursor?: string
  readonly limit: number
}

export interface StoreHealth {
  readonly now: number
  /** How far the wall clock has gone from the store's. */
  readonly clockSkewMs: number
  /** Why writes fail, in a sentence; absent while they succeed. */
  readonly problem?: string
  /** The code of that problem where it lasts until the process ends, and not all that was kept may be found again after it. */
  readonly lasting?: StoreUnavailableError['code']
}

/** The methods of a store that are asked for something and answer. */
export type Verb = Exclude<keyof Store, 'kind' | 'durability' | 'onHint' | 'health' | 'close'>

/**
 * Where the calls of a verb wait. Ends go before beginnings: a settle frees what a claim may take. Operators wait for nothing
 * that tenants bring, and tenants that bring tasks take turns.
 */
export type Line = 'settle' | 'order' | 'intake' | 'upkeep' | 'claim'

export type VerbRule =
  | { readonly kind: 'read' }
  /** `lasts`: the caller counts on it later, and not only while this process lives. */
  | { readonly kind: 'write'; readonly line: Line; readonly lasts: boolean }

const read = { kind: 'read' } as const

/** All that is known of a verb besides its meaning, in one place. */
export const VERBS: { readonly [verb in Verb]: VerbRule } = {
  enqueue: { kind: 'write', line: 'intake', lasts: true },
  get: read,
  queues: read,
  leases: read,
  claim: { kind: 'write', line: 'claim', lasts: false },
  settle: { kind: 'write', line: 'settle', lasts: false },
  expire: { kind: 'write', line: 'upkeep', lasts: false },
  recall: { kind: 'write', line: 'upkeep', lasts: false },
  cancel: { kind: 'write', line: 'order', lasts: false },
  attemptNow: { kind: 'write', line: 'order', lasts: false },
  replay: { kind: 'write', line: 'order', lasts: true },
  endsToTell: read,
  endsTold: { kind: 'write', line: 'upkeep', lasts: false },
  beat: { kind: 'write', line: 'order', lasts: false },
  take: { kind: 'write', line: 'order', lasts: false },
  give: { kind: 'write', line: 'order', lasts: false },
  remember: { kind: 'write', line: 'upkeep', lasts: false },
  memories: read,
  write: { kind: 'write', line: 'order', lasts: true },
  record: read,
  records: read,
  audit: read,
  list: read,
  attempts: read,
  causes: read,
  lanes: read,
  replayCounts: read,
  sweep: { kind: 'write', line: 'upkeep', lasts: false },
  putBody: { kind: 'write', line: 'order', lasts: true },
  bodies: { kind: 'write', line: 'order', lasts: false },
  sweepBodies: { kind: 'write', line: 'upkeep', lasts: false },
}
