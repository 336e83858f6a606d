/** A throw of the kill switch, in words. */
import type { Control, ControlLevel, ControlPreview, ControlScope } from '@secondwind/client'
import type { SayingWho } from '../access/who.ts'
import { sayWhen } from '../output/say-time.ts'

const LEVELS: { readonly [level in ControlLevel]: string } = {
  'retries-off': 'first attempts go out, and retries wait',
  'dispatch-off': 'nothing goes out, and everything waits',
  'intake-off': 'no task is taken in, and what waits goes out',
}
export const LEVEL_NAMES: readonly ControlLevel[] = Object.keys(LEVELS) as ControlLevel[]

export function sayScope(of: ControlScope): string {
  if (of.kind === 'all') return 'everything'
  if (of.kind === 'destination') return of.destination
  return of.kind === 'policy' ? `the policy ${of.policyId}` : `the tenant ${of.tenant}`
}

/** Which switch, for whom and until when. */
export function sayWhat({ level, scope: of, expiresAt }: Control | ControlPreview, now: number): string {
  const end = expiresAt === undefined ? 'until somebody ends it' : `until ${sayWhen(expiresAt, now)}`
  return `${level} for ${sayScope(of)}, ${end}`
}

/** The same with why, and what it does. */
export function sayControl(control: Control | ControlPreview, now: number): string {
  return `${sayWhat(control, now)} (${control.reason}): ${LEVELS[control.level]}`
}

/** Those of whom it is told: who has thrown it, and who has ended it. */
export function actorsOf({ createdBy, endedBy }: Control): readonly string[] {
  return endedBy === undefined ? [createdBy] : [createdBy, endedBy]
}

/** Until when it is on, or since when no longer and by whom. */
export function sayEnd(control: Control, { now, nameOf }: SayingWho): string {
  const { endedAt, endedBy, expiresAt, isInForce } = control
  if (endedAt !== undefined)
    return `ended ${sayWhen(endedAt, now)}${endedBy === undefined ? '' : `, by ${nameOf(endedBy)}`}`
  if (expiresAt === undefined) return 'until somebody ends it'
  return isInForce ? `until ${sayWhen(expiresAt, now)}` : `ended by itself ${sayWhen(expiresAt, now)}`
}
