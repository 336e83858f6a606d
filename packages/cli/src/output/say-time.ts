import { sayMs, unitFor } from '@secondwind/lab'
import type { Said } from '../terminal/table.ts'

/** Swedish writes dates as ISO 8601 does. */
const UTC = new Intl.DateTimeFormat('sv-SE', { timeZone: 'UTC', dateStyle: 'short', timeStyle: 'medium' })

/** `2026-11-16T02:07:58Z`: the same for everybody who is called at night. */
export function sayInstant(at: number): string {
  return `${UTC.format(at).replace(' ', 'T')}Z`
}

/** `02:07:58Z`: the same where it is today's. */
export function sayClock(at: number): string {
  return `${UTC.format(at).slice('2026-11-16 '.length)}Z`
}

/** `in 8 s`, `3 min ago`: in whole units, for a page is older than the rest when it has been read. */
export function sayDistance(at: number, now: number): string {
  const ms = Math.abs(at - now)
  if (ms < 500) return 'now'
  return at > now ? `in ${sayRoughly(ms)}` : `${sayRoughly(ms)} ago`
}

/** `8 s`, `3 min`: whole seconds, minutes, hours or days. */
export function sayRoughly(ms: number): string {
  const unit = unitFor(Math.max(ms, 2_000))
  return sayMs(Math.round(ms / unit.lengthMs) * unit.lengthMs, unit)
}

/** `2026-11-16T02:07:58Z, in 8 s`. */
export function sayWhen(at: number, now: number): string {
  return `${sayInstant(at)}, ${sayDistance(at, now)}`
}

/** For people how far away it is, for programs the instant. */
export function whenCell(at: number | undefined, now: number): Said {
  return { value: at, say: at === undefined ? '' : sayDistance(at, now) }
}

/** A duration: words for people, milliseconds for programs. */
export function durationCell(ms: number): Said {
  return { value: ms, say: sayMs(ms) }
}
