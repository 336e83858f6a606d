import { ServiceError } from '@secondwind/client'
import { connect } from './connection.ts'
import type { RemoteCall } from './remote-command.ts'
import { DEFAULT_TENANT } from './whose.ts'

/**
 * For whom a key acts that was refused something, so that the next one is made for the same; undefined where it is the
 * usual one, or nobody says. No answer names it but one: a key that is asked to act for others says for whom it does.
 */
export async function tenantOfKey({
  options,
  tenant,
  hasKey,
}: Pick<RemoteCall, 'options' | 'tenant' | 'hasKey'>): Promise<string | undefined> {
  if (tenant !== undefined) return tenant === DEFAULT_TENANT ? undefined : tenant
  if (!hasKey) return undefined
  try {
    const { client } = connect({ ...options, tenant: DEFAULT_TENANT })
    await client.tasks.list().page({ limit: 1 })
    return undefined
  } catch (error) {
    // What was refused is told in any case: this only makes the proposal better.
    if (!(error instanceof ServiceError) || error.code !== 'tenant-forbidden') return undefined
    return /\bacts for ([a-z\d-]+)/.exec(error.detail)?.[1]
  }
}
