import { presets } from '@secondwind/resilience'
import type { TaskStore } from '../stores/task-store.ts'

/** What tasks without a policy of their own get; a tenant's own version of it stays as it is. */
export async function seedDefaultPolicy(store: TaskStore, tenant: string): Promise<void> {
  const document = presets.service.retry
  const name = { tenant, policyId: document.policyId! }
  if ((await store.policy(name)) === undefined) await store.putPolicy({ ...name, document })
}
