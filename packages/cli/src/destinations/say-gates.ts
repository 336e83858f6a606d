/** The gates of a destination in words: what is shut, until when, and how many attempts its credit still allows. */
import type { Destination, DestinationLimits, Hold } from '@secondwind/client'
import { sayMs } from '@secondwind/lab'
import { sayRoughly } from '../output/say-time.ts'

type Gates = Pick<Destination, 'hold' | 'kindHolds'>

/** As the service names them: a task that was never tried, tried one to three times, tried more often. */
export const KINDS = ['first', 'retry', 'late'] as const

/** What holds it in a word or two, and of which kinds of attempts where others may start. */
export function sayGate({ hold, kindHolds = {} }: Gates): string {
  if (hold !== undefined) return hold.reason
  const held = KINDS.filter(kind => kindHolds[kind] !== undefined)
  const reasons = [...new Set(held.map(kind => kindHolds[kind]?.reason))]
  return reasons
    .map(reason => {
      const kinds = KINDS.filter(kind => kindHolds[kind]?.reason === reason)
      return kinds.length === KINDS.length ? reason : `${reason} (${kinds.join(', ')})`
    })
    .join(', ')
}

/** All that are shut, for every attempt or for one kind; each once. */
export function holdsOf({ hold, kindHolds = {} }: Gates): readonly Hold[] {
  return [hold, ...KINDS.map(kind => kindHolds[kind])].filter(gate => gate !== undefined)
}

/** `paused, for another 25 min: INC-2231`. One that is coming back is not shut until then: it is given more. */
export function sayHold(hold: Hold, now: number): string {
  const { reason, since, until, because, everyMs } = hold
  if (everyMs !== undefined) return `${reason}, ${sayProbes(hold, now)}`
  const says = reason === 'slow-start' ? 'one more at once in' : 'for another'
  const opens = until === undefined ? '' : `, ${says} ${sayMs(Math.max(0, until - now))}`
  if (since !== undefined) return `${reason}, ${saySilence(since, now)}`
  return `${reason}${opens}${because === undefined ? '' : `: ${because}`}`
}

/** `only failures for 3 min, a probe every 9 s, the next in 4 s`. */
export function sayProbes({ since, everyMs = 0, until = 0 }: Hold, now: number): string {
  const silence = since === undefined ? '' : `${saySilence(since, now)}, `
  const next = until <= now ? 'now' : `in ${sayMs(until - now)}`
  return `${silence}a probe every ${sayMs(everyMs)}, the next ${next}`
}

function saySilence(since: number, now: number): string {
  return `only failures for ${sayRoughly(Math.max(0, now - since))}`
}

/** `first 20 · retry 60 · late 20`; those that are not known are left out. */
export function sayPerKind(counts: NonNullable<NonNullable<DestinationLimits['credit']>['most']>): string {
  return KINDS.flatMap(kind => (counts[kind] === undefined ? [] : `${kind} ${counts[kind]}`)).join(' · ')
}
