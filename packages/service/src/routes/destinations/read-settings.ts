import type { Problem } from '@secondwind/resilience'
import { checkLane } from '@secondwind/resilience/rules'
import type { FastifyRequest } from 'fastify'
import type { OperatorRecord } from '../../stores/task-store.ts'
import { laneInputOf, type DestinationSettings } from '../../task/destination-settings.ts'
import { laneOf } from '../../task/lane.ts'
import { Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { invalid } from '../requests/validation.ts'
import type { SettingsInput } from '../schemas/destination.ts'

export interface ReadSettings extends Omit<SettingsInput, 'version'> {
  readonly ifVersion: number | undefined
}

/** Settings that can be kept: limits by the library's own rules, and a name that nobody else has. */
export async function readSettings(
  { body, headers }: Pick<FastifyRequest<{ Body: SettingsInput }>, 'body' | 'headers'>,
  lane: string,
  context: ApiContext,
): Promise<ReadSettings> {
  const { version, ...settings } = body
  const problems = [...checkLimits(settings), ...checkVersion(version, headers['if-match'])]
  if (problems.length > 0) throw invalid('body', problems)
  if (settings.name !== undefined) await refuseTaken(settings.name, lane, context)
  return { ...settings, ifVersion: version ?? versionIn(headers['if-match']) }
}

function checkLimits({ limits }: SettingsInput): Problem[] {
  return limits === undefined
    ? []
    : checkLane(laneInputOf(limits)).map(problem => ({ ...problem, at: pathOf(problem.at) }))
}

/** In a lane's document it is called limit. */
function pathOf(at: string): string {
  return at === 'limit' ? 'limits.concurrency' : `limits.${at}`
}

const ETAG = /^"(\d{1,15})"$/

function versionIn(etag: string | undefined): number | undefined {
  const [, digits] = ETAG.exec(etag ?? '') ?? []
  return digits === undefined ? undefined : Number(digits)
}

function checkVersion(version: number | undefined, etag: string | undefined): Problem[] {
  if (etag === undefined) return []
  const known = versionIn(etag)
  if (known === undefined) return [{ at: 'If-Match', is: etag, say: 'must be the ETag of the destination, as it came' }]
  if (version === undefined || version === known) return []
  return [{ at: 'version', is: version, say: 'differs from the header If-Match: give one of them, or the same' }]
}

/** Looked for in the store itself: what others have named within the last second counts. */
async function refuseTaken(name: string, lane: string, { store }: ApiContext): Promise<void> {
  const { tenant } = laneOf(lane)
  let cursor: string | undefined
  do {
    const page: { readonly items: readonly OperatorRecord[]; readonly nextCursor?: string } = await store.records({
      kind: 'destination',
      tenant,
      limit: 200,
      ...(cursor !== undefined && { cursor }),
    })
    const taken = page.items.find(({ id, document }) => id !== lane && (document as DestinationSettings).name === name)
    if (taken !== undefined)
      throw new Refusal('name-taken', { detail: `${name} is ${laneOf(taken.id).destination}; choose another name.` })
    cursor = page.nextCursor
  } while (cursor !== undefined)
}
