import type { Store, StoreUnavailableError } from './stores/store.ts'

/** What became of what the service kept, once it has stopped. */
export type Kept =
  | { readonly kind: 'all' }
  /** It was in memory. */
  | { readonly kind: 'nothing'; readonly unfinished: number }
  /** The store has a problem that outlasts the process. */
  | { readonly kind: 'in-doubt'; readonly code: StoreUnavailableError['code']; readonly problem: string }

/** Asked when nothing is written any more, right before the store is closed: afterwards it cannot be asked. */
export async function keptBy(store: Pick<Store, 'durability' | 'beat' | 'health'>): Promise<Kept> {
  if (store.durability === 'none') {
    const { tasks } = (await store.beat({ instance: 'stop', largeFrom: { tasks: Infinity, lanes: Infinity } })).waiting
    return { kind: 'nothing', unfinished: tasks.PENDING + tasks.IN_FLIGHT }
  }
  const { problem, lasting } = await store.health()
  return problem === undefined || lasting === undefined ? { kind: 'all' } : { kind: 'in-doubt', code: lasting, problem }
}
