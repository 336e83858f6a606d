import type { Caller } from '../../access/caller.ts'
import { isRoomFor } from '../../stores/record-pages.ts'
import { documentOf, type JsonObject, type RecordWrite, type StoredRecord } from '../../stores/store.ts'
import { freeName, takeName, type NameDocument } from '../../stores/unique-names.ts'
import { settingsAt, type DestinationSettings } from '../../task/destination-settings.ts'
import { laneOf, laneOfAll } from '../../task/lane.ts'
import { Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { lineBy } from '../requests/audit-line.ts'
import { otherVersion } from '../requests/if-match.ts'
import { refuseForeign, type Touched } from './whose-order.ts'

/** Of a tenant. Every instance keeps all of them at hand. */
const MOST_DESTINATIONS = 1_000
/** An operator can pause and drain destinations of a tenant that has used up its own. */
const MOST_OF_OPERATORS = 10 * MOST_DESTINATIONS

/** In an incident several orders for one destination are likely at the same moment, and they seldom exclude each other. */
const MOST_TRIES = 20
/** Of orders that come at the same moment the store takes the oldest, so an operator outlasts all that a tenant has under way. */
const MOST_TRIES_OF_OPERATORS = 1_000

export interface Change {
  /** Of the record to change. */
  readonly id: string
  readonly caller: Caller
  /** Its name in the audit. */
  readonly action: string
  readonly reason?: string | undefined
  readonly details?: JsonObject
  /** The version that the record must still have. Left out: any. */
  readonly ifVersion?: number | undefined
  /** The orders that it gives or lifts. */
  readonly touched: readonly Touched[]
  /** Returns the same object if there is nothing to change. Then nothing is written. */
  readonly apply: (settings: DestinationSettings) => DestinationSettings
}

/** Writes the order of a caller. This instance reads it at once. */
export async function changeSettings(change: Change, context: ApiContext): Promise<void> {
  await write(change, context)
  await context.orders.refresh()
}

async function write(change: Change, { store, clock }: ApiContext): Promise<void> {
  const { id, caller, action, reason, details, ifVersion, touched, apply } = change
  const { tenant, destination } = laneOf(id)
  const record = { kind: 'destination', id, tenant } as const
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
    if (version === 0 && !(await isRoomFor(store, { kind: 'destination', tenant, most })))
      throw new Refusal('too-many', { detail: `${most} destinations have settings of their own already.` })
    const written = await store.write(
      [
        { ...record, document: { ...after }, ifVersion: version },
        ...renaming(record, { from: before!.name, to: after.name }),
      ],
      {
        ...lineBy(caller, { tenant, action, subject: destination, reason }),
        ...(details !== undefined && { details }),
      },
    )
    if (written.kind === 'written') return
    if (written.name.kind === 'name' && after.name !== undefined) throw nameTaken(after.name, written.record)
  }
  throw new Refusal('write-conflict', {
    detail: `Other orders changed its settings ${mostTries} times in a row. Look at them, and decide anew.`,
  })
}

function recordsFor(id: string, store: ApiContext['store']): Promise<(StoredRecord | undefined)[]> {
  return Promise.all([id, laneOfAll(id)].map(each => store.record({ kind: 'destination', id: each })))
}

function settingsOf(record: StoredRecord | undefined, now: number): DestinationSettings {
  return settingsAt(record === undefined ? {} : documentOf(record), now)
}

/** The writes beside that of the settings, if they give or take a name. */
function renaming(
  record: Pick<RecordWrite, 'kind' | 'id' | 'tenant'>,
  { from, to }: { readonly from: string | undefined; readonly to: string | undefined },
): RecordWrite[] {
  if (from === to) return []
  return [...(from === undefined ? [] : [freeName(record, from)]), ...(to === undefined ? [] : [takeName(record, to)])]
}

function nameTaken(name: string, record: StoredRecord | undefined): Refusal {
  const owner = record && laneOf(documentOf<NameDocument>(record).owner).destination
  return new Refusal('name-taken', { detail: `${name} is ${owner ?? 'taken'}; choose another name.` })
}
