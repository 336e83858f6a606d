import { ServiceError, type Client, type NamedPolicyInput, type PolicyVersion } from '@secondwind/client'
import { presets, type RetryPolicy } from '@secondwind/resilience'
import { checkRetryPolicy } from '@secondwind/resilience/rules'
import type { Answer } from '../command.ts'
import { problemsFailure, usageFailure } from '../failure.ts'
import { showTable, type Table } from '../terminal/table.ts'

/** A field that would be another than it is. */
export interface Change {
  readonly field: string
  readonly before: unknown
  readonly after: unknown
}

export interface Changes {
  readonly before: PolicyVersion | undefined
  readonly changes: readonly Change[]
}

/** What a document changes about the newest version of its name, defaults filled in as the service does. */
export async function changesOf(client: Client, document: NamedPolicyInput): Promise<Changes> {
  const { policy, problems } = checkRetryPolicy(document, presets.service.retry)
  if (policy === undefined) throw problemsFailure({ code: 'invalid-policy', what: 'the policy has problems' }, problems)
  if (document.policyId === undefined)
    throw usageFailure({
      code: 'missing-option',
      what: 'the policy has no name',
      because: ['Neither policyId in the document nor --policy-id says what to keep it under.'],
      next: ['add  --policy-id <name>'],
    })
  const before = await newestOf(client, document.policyId)
  const fields = new Set([...Object.keys(before ?? {}), ...Object.keys(policy)]) as Set<keyof RetryPolicy>
  for (const own of ['version', 'createdAt', 'policyId']) (fields as Set<string>).delete(own)
  const changes = Array.from(fields, field => ({ field, before: before?.[field], after: policy[field] }))
  return { before, changes: changes.filter(one => JSON.stringify(one.before) !== JSON.stringify(one.after)) }
}

async function newestOf(client: Client, policyId: string): Promise<PolicyVersion | undefined> {
  try {
    return await client.policies.get(policyId)
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return undefined
    throw error
  }
}

/** For people and for other programs. */
export function answerChanges({ before, changes }: Changes): { readonly table: Table; readonly show: Answer['show'] } {
  const say = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value))
  const table: Table = {
    columns: [
      { name: 'field' },
      { name: before === undefined ? 'now' : `version ${before.version}`, field: 'before', isProse: true },
      { name: 'then', field: 'after', isProse: true },
    ],
    rows: changes.map(({ field, before: now, after }) => [field, say(now), say(after)]),
  }
  return { table, show: page => (changes.length === 0 ? 'Every field is as it is now.' : showTable(table, page)) }
}
