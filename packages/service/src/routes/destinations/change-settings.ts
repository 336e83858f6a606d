import type { Caller } from '../../access/caller.ts'
import { documentOf, type JsonObject, type OperatorRecord, type RecordName } from '../../stores/task-store.ts'
import { settingsAt, type DestinationSettings } from '../../task/destination-settings.ts'
import { laneOf, laneOfAll } from '../../task/lane.ts'
import { Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { lineBy } from '../requests/audit-line.ts'
import { otherVersion } from '../requests/if-match.ts'
import { refuseForeign, type Touched } from './whose-order.ts'

/** Of a tenant: every instance keeps all of them at hand. */
const MOST_DESTINATIONS = 1_000
/** An operator can pause and drain more, however many a tenant has used up. */
const MOST_OF_OPERATORS = 10 * MOST_DESTINATIONS

/** Several orders for one destination at the same moment are likely in an incident, and they seldom exclude each other. */
const MOST_TRIES = 20
/** Of those that come at the same moment the store takes the oldest: an operator outlasts all that a tenant may have under way. */
const MOST_TRIES_OF_OPERATORS = 1_000

export interface Change {
  /** Of the record that is changed. */
  readonly id: string
  readonly caller: Caller
  /** What the audit calls it. */
  readonly action: string
  readonly reason?: string | undefined
  readonly details?: JsonObject
  /** The version that must still be the record's; else whatever it is now is changed. */
  readonly ifVersion?: number | undefined
  /** The orders that it gives or lifts. */
  readonly touched: readonly Touched[]
  /** The same settings, where there is nothing to change: then nothing is written. */
  readonly apply: (settings: DestinationSettings) => DestinationSettings
}

/** Writes what a caller has ordered, and has this instance read it at once. */
export async function changeSettings(change: Change, context: ApiContext): Promise<void> {
  await write(change, context)
  await context.orders.refresh()
}

async function write(change: Change, { store, clock }: ApiContext): Promise<void> {
  const { id, caller, action, reason, details, ifVersion, touched, apply } = change
  const { tenant, destination } = laneOf(id)
  const name: RecordName = { kind: 'destination', id }
  const mostTries = caller.isOperator ? MOST_TRIES_OF_OPERATORS : MOST_TRIES
  for (let tries = 0; tries < mostTries; tries++) {
    const now = clock.now()
    const [known, all] = await recordsFor(id, store)
    const version = known?.version ?? 0
    if (version !== (ifVersion ?? version)) throw otherVersion(version)
    const [before, ofAll] = [known, all].map(record => settingsOf(record, now))
    const after = apply(before!)
    if (!caller.isOperator)
      for (const each of touched) refuseForeign(each, { own: before!, all: ofAll! }, { after, now })
    if (after === before) return
    const most = caller.isOperator ? MOST_OF_OPERATORS : MOST_DESTINATIONS
    const written = await store.writeRecord({
      ...name,
      tenant,
      document: { ...after },
      ifVersion: version,
      most,
      isNameUnique: true,
      audit: {
        ...lineBy(caller, { tenant, action, subject: destination, reason }),
        ...(details !== undefined && { details }),
      },
    })
    if (written.kind === 'full')
      throw new Refusal('too-many', { detail: `${most} destinations have settings of their own already.` })
    if (written.kind === 'taken') throw nameTaken(written.record)
    if (written.kind !== 'conflict') return
  }
  throw new Refusal('write-conflict', {
    detail: `Other orders changed its settings ${mostTries} times in a row. Look at them, and decide anew.`,
  })
}

function recordsFor(id: string, store: ApiContext['store']): Promise<(OperatorRecord | undefined)[]> {
  return Promise.all([id, laneOfAll(id)].map(each => store.record({ kind: 'destination', id: each })))
}

function settingsOf(record: OperatorRecord | undefined, now: number): DestinationSettings {
  return settingsAt(record === undefined ? {} : documentOf(record), now)
}

function nameTaken(record: OperatorRecord): Refusal {
  const { name = '' } = documentOf<DestinationSettings>(record)
  return new Refusal('name-taken', { detail: `${name} is ${laneOf(record.id).destination}; choose another name.` })
}
