import type { DestinationSettingsInput } from '@secondwind/client'
import type { Problem } from '@secondwind/resilience'
import { checkLane } from '@secondwind/resilience/rules'
import type { FastifyRequest } from 'fastify'
import { laneInputOf } from '../../task/destination-settings.ts'
import { versionAsked } from '../requests/if-match.ts'
import { invalid } from '../requests/validation.ts'

export interface ReadSettings extends Omit<DestinationSettingsInput, 'version'> {
  readonly ifVersion: number | undefined
}

/** Settings that can be kept: limits by the library's own rules. */
export function readSettings(
  request: Pick<FastifyRequest<{ Body: DestinationSettingsInput }>, 'body' | 'headers'>,
): ReadSettings {
  const { version, ...settings } = request.body
  const problems = [...checkLimits(settings), ...checkVersion(version, versionAsked(request))]
  if (problems.length > 0) throw invalid('body', problems)
  return { ...settings, ifVersion: version ?? versionAsked(request) }
}

function checkLimits({ limits }: DestinationSettingsInput): Problem[] {
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
