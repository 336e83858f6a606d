import { controlOf } from '../steering/standing-orders.ts'
import type { OperatorStore } from '../stores/task-store.ts'
import { endOf } from '../task/control.ts'

/** Long after every ramp: until then people ask what had been switched off, and by whom. The audit knows it for longer. */
const KEPT_MS = 86_400_000

const PAGE = 200

/** Forgets controls that ended more than a day ago, page by page. */
export async function forgetEndedControls(
  store: Pick<OperatorStore, 'records' | 'writeRecord'>,
  now: number,
): Promise<void> {
  let cursor: string | undefined
  do {
    const page: Awaited<ReturnType<OperatorStore['records']>> = await store.records({
      kind: 'control',
      limit: PAGE,
      ...(cursor !== undefined && { cursor }),
    })
    for (const record of page.items) {
      const { kind, id, tenant, version } = record
      if (endOf(controlOf(record)) < now - KEPT_MS)
        await store.writeRecord({ kind, id, tenant, document: null, ifVersion: version })
    }
    cursor = page.nextCursor
  } while (cursor !== undefined)
}
