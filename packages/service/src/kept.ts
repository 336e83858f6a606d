import type { StoreUnavailableError, TaskStore } from './stores/task-store.ts'

/** What became of what the service kept, once it has stopped. */
export type Kept =
  | { readonly kind: 'all' }
  /** It was in memory. */
  | { readonly kind: 'nothing'; readonly unfinished: number }
  /** The store has a problem that outlasts the process. */
  | { readonly kind: 'in-doubt'; readonly code: StoreUnavailableError['code']; readonly problem: string }

/** Asked when nothing is written any more, and right before the store is closed: then nobody knows. */
export async function keptBy(store: TaskStore): Promise<Kept> {
  if (store.durability === 'none') {
    const { tasks } = await store.counters()
    return { kind: 'nothing', unfinished: tasks.PENDING + tasks.IN_FLIGHT }
  }
  const { problem, lasting } = await store.health()
  return problem === undefined || lasting === undefined ? { kind: 'all' } : { kind: 'in-doubt', code: lasting, problem }
}
