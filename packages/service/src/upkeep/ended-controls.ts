import { controlOf } from '../steering/standing-orders.ts'
import { recordPages } from '../stores/record-pages.ts'
import type { RecordStore } from '../stores/store.ts'
import { endOf } from '../task/control.ts'

/** Long after every ramp. Until then people ask which controls there were, and whose. The audit knows it for longer. */
const KEPT_MS = 86_400_000

/** Forgets controls that ended more than a day ago. A page of which another instance forgot some is left to the next sweep. */
export async function forgetEndedControls(store: Pick<RecordStore, 'records' | 'write'>, now: number): Promise<void> {
  for await (const page of recordPages(store, { kind: 'control' })) {
    const old = page.filter(record => endOf(controlOf(record)) < now - KEPT_MS)
    const removals = old.map(({ kind, id, tenant, version }) => ({
      kind,
      id,
      tenant,
      document: null,
      ifVersion: version,
    }))
    if (removals.length > 0) await store.write(removals)
  }
}
