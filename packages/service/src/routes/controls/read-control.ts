/** From the caller's words to a control, or to all of their problems at once. */
import type { Problem } from '@secondwind/resilience'
import type { Caller } from '../../access/caller.ts'
import { storeTimeAt } from '../../stores/store-clock.ts'
import { INLINE_POLICY } from '../../task/accept.ts'
import type { Control, ControlScope } from '../../task/control.ts'
import { Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { readDestination } from '../destinations/find-destination.ts'
import { didYouMean } from '../requests/near-words.ts'
import { invalid } from '../requests/validation.ts'
import { checkRamp, rampOf } from '../schemas/coming-back.ts'
import type { ControlInput } from '../schemas/control.ts'

export async function readControl(
  input: ControlInput,
  caller: Caller,
  context: ApiContext,
): Promise<Omit<Control, 'controlId'>> {
  const { level, reason } = input
  const now = context.clock.now()
  const [scope, problems] = await readScope(input, caller, context)
  const [expiresAt, late] = readEnd(input, context)
  if (scope === undefined || problems.length + late.length > 0) throw invalid('body', [...problems, ...late])
  refuseForeign(scope, caller, context)
  const { tenant, isForAll, actor: createdBy, isOperator: isByOperator } = caller
  return {
    ...(!isForAll && { tenant }),
    level,
    scope,
    reason,
    createdAt: now,
    createdBy,
    isByOperator,
    ...(expiresAt !== undefined && { expiresAt }),
    ...rampOf(input),
  }
}

type ReadScope = readonly [scope: ControlScope | undefined, problems: readonly Problem[]]

const SCOPE_FIELDS = { all: undefined, tenant: 'tenant', policy: 'policyId', destination: 'destination' } as const

async function readScope({ scope }: ControlInput, caller: Caller, context: ApiContext): Promise<ReadScope> {
  const { kind, ...given } = scope
  const field = SCOPE_FIELDS[kind]
  const misplaced = Object.entries(given)
    .filter(([name]) => name !== field)
    .map(([name, is]) => ({ at: `scope.${name}`, is, say: `does not go with the kind ${kind}` }))
  if (misplaced.length > 0) return [undefined, misplaced]
  switch (kind) {
    case 'all':
      return withinNamed({ kind }, caller)
    case 'tenant':
      return withinNamed({ kind, tenant: given.tenant ?? caller.tenant }, caller)
    case 'policy':
      return policyScope(given.policyId, caller, context)
    case 'destination':
      return destinationScope(given.destination, caller, context)
  }
}

/** An order in the name of one tenant is kept, shown and audited under it, so it must not tell of another. */
function withinNamed(scope: ControlScope, { tenant, isOperator, isForAll }: Caller): ReadScope {
  if (!isOperator || isForAll) return [scope, []]
  const say = `reaches beyond ${tenant}, for whom you act: leave out the header Secondwind-Tenant`
  if (scope.kind === 'all') return [undefined, [{ at: 'scope.kind', is: scope.kind, say }]]
  if (scope.kind !== 'tenant' || scope.tenant === tenant) return [scope, []]
  return [undefined, [{ at: 'scope.tenant', is: scope.tenant, say }]]
}

/** A control with a mistyped name would hold nothing, and its maker would not notice. */
async function policyScope(
  policyId: string | undefined,
  caller: Caller,
  { keys, policies }: ApiContext,
): Promise<ReadScope> {
  const { tenant, isForAll } = caller
  const at = 'scope.policyId'
  if (policyId === undefined) return [undefined, [{ at, is: undefined, say: 'must be given' }]]
  const found: ReadScope = [{ kind: 'policy', policyId }, []]
  if (policyId === INLINE_POLICY) return found
  for (const owner of isForAll ? keys.tenants() : [tenant])
    if ((await policies.inForce({ tenant: owner, policyId })) !== undefined) return found
  const meant = didYouMean(policyId, await policies.names(tenant))
  return [undefined, [{ at, is: policyId, say: `is not known here${meant}` }]]
}

function destinationScope(name: string | undefined, caller: Caller, { orders }: ApiContext): ReadScope {
  const at = 'scope.destination'
  if (name === undefined) return [undefined, [{ at, is: undefined, say: 'must be given' }]]
  const [destination, problems] = readDestination({ at, is: name }, caller, orders)
  return [destination === undefined ? undefined : { kind: 'destination', destination }, problems]
}

function readEnd(input: ControlInput, context: ApiContext): readonly [number | undefined, Problem[]] {
  const { expiresAt, forMs } = input
  const [now, wallNow] = [context.clock.now(), context.wallNow()]
  const hasEnd = (expiresAt ?? forMs) !== undefined
  const problems = checkRamp(input, { hasEnd, ends: 'expiresAt or forMs' })
  if (expiresAt === undefined) return [forMs === undefined ? undefined : now + forMs, problems]
  if (forMs !== undefined)
    problems.push({ at: 'forMs', is: forMs, say: 'must not stand beside expiresAt: one of them' })
  if (expiresAt <= wallNow) problems.push({ at: 'expiresAt', is: expiresAt, say: 'must be an instant that is to come' })
  return [Math.ceil(storeTimeAt(expiresAt, { now, wallNow })), problems]
}

function refuseForeign(scope: ControlScope, caller: Caller, { keys }: ApiContext): void {
  if (scope.kind !== 'all' && scope.kind !== 'tenant') return
  if (scope.kind === 'tenant' && scope.tenant === caller.tenant) return
  if (!caller.isOperator)
    throw new Refusal('scope-missing', {
      detail: 'Only whoever runs the service may switch off more than one tenant’s own.',
    })
  if (scope.kind === 'tenant' && !keys.hasTenant(scope.tenant))
    throw new Refusal('tenant-not-found', { detail: 'There is no tenant of this name.' })
}
