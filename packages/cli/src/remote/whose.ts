/** With an operator's key and no tenant named, what is read is every tenant's: whose each thing is has to be said. */
import { ServiceError, type ServiceErrorCode } from '@secondwind/client'
import type { Column } from '../terminal/table.ts'
import type { RemoteCall } from './remote-command.ts'

interface Owned {
  readonly tenant?: string | undefined
}

/** The tenant of those who have named none. */
export const DEFAULT_TENANT = 'default'

/** Shown where rows are of several, and as long as there is room where they are of one that has a name. */
export function tenantColumn(rows: readonly Owned[], named?: string): Column {
  const tenants = new Set(rows.map(({ tenant }) => tenant ?? DEFAULT_TENANT))
  if (tenants.size > 1) return { name: 'tenant' }
  const isKnown = named !== undefined || tenants.size === 0 || tenants.has(DEFAULT_TENANT)
  return isKnown ? { name: 'tenant', isOnlyData: true } : { name: 'tenant', dropOrder: 0 }
}

/** ` of beta`, where it is somebody's who has a name. */
export function ofTenant({ tenant = DEFAULT_TENANT }: Owned): string {
  return tenant === DEFAULT_TENANT ? '' : ` of ${tenant}`
}

/** For a command that acts for one tenant: whose it is, where nobody has named another than `default`. */
export function whoseFlag({ tenant = DEFAULT_TENANT }: Owned, named: string | undefined): readonly string[] {
  return named !== undefined || tenant === DEFAULT_TENANT ? [] : ['--tenant', tenant]
}

/** What is kept by tenant, and was read of one that nobody named: said where there are others. */
export async function tellWhose(call: RemoteCall): Promise<void> {
  if (call.tenant !== undefined || (await actedFor(call)) === undefined) return
  call.terminal.tell(`of tenant ${DEFAULT_TENANT} only; others: --tenant <name>\n`)
}

/** Of what is kept by tenant, and was not found: the tenant that alone was asked, where there are others. */
export async function onlyAsked(error: unknown, call: RemoteCall): Promise<string | undefined> {
  const isOfTenant = error instanceof ServiceError && NOT_FOUND_BY_TENANT.includes(error.code)
  if (!isOfTenant || call.tenant !== undefined) return undefined
  // What was not found is told all the same.
  return actedFor(call).catch(() => undefined)
}

const NOT_FOUND_BY_TENANT: readonly ServiceErrorCode[] = ['policy-not-found', 'replay-not-found', 'body-not-found']

/** Whose it is what is kept by tenant, where there are several: that of the one who was named, or of `default`. */
export async function actedFor({ client, tenant }: RemoteCall): Promise<string | undefined> {
  return tenant ?? ((await hasOthers(client)) ? DEFAULT_TENANT : undefined)
}

/** Whoever may not ask is of one tenant, and knows which. */
async function hasOthers(client: RemoteCall['client']): Promise<boolean> {
  try {
    const { items } = await client.tenants.list().page({ limit: 2 })
    return items.some(({ tenant }) => tenant !== DEFAULT_TENANT)
  } catch (error) {
    if (error instanceof ServiceError) return false
    throw error
  }
}
