import type { DestinationSettingsInput } from '@secondwind/client'
import type { Problem } from '@secondwind/resilience'
import { check, checkLane } from '@secondwind/resilience/rules'
import type { FastifyRequest } from 'fastify'
import { laneInputOf } from '../../task/destination-settings.ts'
import { versionAsked } from '../requests/if-match.ts'
import { refuseWrongBody } from '../requests/validation.ts'

export interface ReadSettings extends Omit<DestinationSettingsInput, 'version'> {
  readonly ifVersion: number | undefined
}

/** Settings that can be kept: limits by the library's own rules. */
export function readSettings(request: FastifyRequest<{ Body: DestinationSettingsInput }>): ReadSettings {
  const asked = versionAsked(request)
  const { limits, version: given }: { readonly limits?: unknown; readonly version?: unknown } = request.body ?? {}
  refuseWrongBody(request, [...checkLimits(limits), ...checkVersion(given, asked)])
  const { version, ...settings } = request.body
  return { ...settings, ifVersion: version ?? asked }
}

/** What is no object at all, its schema tells. */
function checkLimits(limits: unknown): Problem[] {
  return check.isRecord(limits)
    ? checkLane(laneInputOf(limits)).map(problem => ({ ...problem, at: pathOf(problem.at) }))
    : []
}

/** In a lane's document it is called limit. */
function pathOf(at: string): string {
  return at === 'limit' ? 'limits.concurrency' : `limits.${at}`
}

function checkVersion(version: unknown, asked: number | undefined): Problem[] {
  if (version === undefined || asked === undefined || version === asked) return []
  return [{ at: 'version', is: version, say: 'differs from the header If-Match: give one of them, or the same' }]
}
