import type { Problem } from '@secondwind/resilience'
import { checkLane } from '@secondwind/resilience/rules'
import type { FastifyRequest } from 'fastify'
import type { OperatorRecord } from '../../stores/task-store.ts'
import { laneInputOf, type DestinationSettings } from '../../task/destination-settings.ts'
import { laneOf } from '../../task/lane.ts'
import { Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { versionAsked } from '../requests/if-match.ts'
import { invalid } from '../requests/validation.ts'
import type { SettingsInput } from '../schemas/destination.ts'

export interface ReadSettings extends Omit<SettingsInput, 'version'> {
  readonly ifVersion: number | undefined
}

/** Settings that can be kept: limits by the library's own rules, and a name that nobody else has. */
export async function readSettings(
  request: Pick<FastifyRequest<{ Body: SettingsInput }>, 'body' | 'headers'>,
  lane: string,
  context: ApiContext,
): Promise<ReadSettings> {
  const { version, ...settings } = request.body
  const problems = [...checkLimits(settings), ...checkVersion(version, versionAsked(request))]
  if (problems.length > 0) throw invalid('body', problems)
  if (settings.name !== undefined) await refuseTaken(settings.name, lane, context)
  return { ...settings, ifVersion: version ?? versionAsked(request) }
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

function checkVersion(version: number | undefined, asked: number | undefined): Problem[] {
  if (version === undefined || asked === undefined || version === asked) return []
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
