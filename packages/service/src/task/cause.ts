import type { GiveUpReason } from '@secondwind/resilience'
import type { Lane } from './lane.ts'
import type { AttemptEnd, HeldBack } from './task.ts'

/** What a dead letter died of. */
export interface Death extends Lane {
  readonly reason: GiveUpReason
  /** Since when differs from task to task. */
  readonly held?: Pick<HeldBack, 'by'> | undefined
  readonly lastAttempt?: Partial<AttemptEnd> | undefined
}

/** The same text for tasks that died of the same thing, in every store and version; its hash is the name of the cause. */
export function causeText({ tenant, destination, reason, held, lastAttempt }: Death): string {
  const { responseStatus = null, errorCode = null, errorMessage = '' } = lastAttempt ?? {}
  const parts = [tenant, destination, reason, responseStatus, errorCode, fingerprintOf(errorMessage)]
  return JSON.stringify(held === undefined ? parts : [...parts, held.by])
}

/** What a message begins with tells causes apart; a page of HTML behind it does not. */
const LONGEST_FINGERPRINT = 300
const LONGEST_READ = 2_000

/** A message without what differs from one task to the next: numbers, addresses in memory, ids, what is quoted. */
export function fingerprintOf(message: string): string {
  return message
    .slice(0, LONGEST_READ)
    .replace(QUOTED, '…')
    .replace(UUID, '…')
    .replace(HEX, '…')
    .replace(DIGITS, '…')
    .slice(0, LONGEST_FINGERPRINT)
}

/** Not an apostrophe: that stands behind a letter. */
const QUOTED = /"[^"]*"|`[^`]*`|(?<!\w)'[^']*'/g
const UUID = /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi
/** At least eight and one of them a digit: a word of a to f is a word. */
const HEX = /\b(?:0x[0-9a-f]+|(?=[a-f]*\d)[0-9a-f]{8,})\b/gi
const DIGITS = /\d+/g
