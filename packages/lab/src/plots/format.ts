/** Numbers for people, the same on every machine: no locale is asked. */

/** `1,611`, `12.5`, `0.031`: three digits at least, thousands apart; beyond a thousand million nobody counts zeros. */
export function sayNumber(value: number): string {
  const size = Math.abs(value)
  if (size >= 1e9) return value.toExponential(2)
  if (size >= 100) return grouped(Math.round(value))
  if (size < 0.001 && size > 0) return value.toExponential(1)
  return String(Number(value.toPrecision(3)))
}

export function sayRate(perSecond: number): string {
  return `${sayNumber(perSecond)}/s`
}

/** `27 ×` of what one operation would be. */
export function sayTimes(factor: number): string {
  return `${sayNumber(factor)} ×`
}

/** `25 %`, `99.95 %`: never rounded up to all, nor down to none. */
export function sayShare(share: number): string {
  const percent = 100 * share
  const shown = Number(percent.toFixed(percent > 0.1 && percent < 99.9 ? 1 : 3))
  if (shown === 100 && share < 1) return '> 99.999 %'
  if (shown === 0 && share > 0) return '< 0.001 %'
  return `${shown} %`
}

export interface Unit {
  readonly name: string
  readonly lengthMs: number
}

const UNITS: readonly Unit[] = [
  { name: 'd', lengthMs: 86_400_000 },
  { name: 'h', lengthMs: 3_600_000 },
  { name: 'min', lengthMs: 60_000 },
  { name: 's', lengthMs: 1_000 },
  { name: 'ms', lengthMs: 1 },
]

/** The unit of a whole axis: chosen once, so that its values can be compared at a glance. */
export function unitFor(longestMs: number): Unit {
  return UNITS.find(({ lengthMs }) => longestMs >= 2 * lengthMs) ?? UNITS.at(-1)!
}

/** `250 ms`, `1.5 s`, `3 min`: in the largest unit of which there is one, or in the one given. */
export function sayMs(ms: number, unit: Unit = UNITS.find(({ lengthMs }) => ms >= lengthMs) ?? UNITS.at(-1)!): string {
  return `${sayNumber(ms / unit.lengthMs)} ${unit.name}`
}

/** `18,000`: every digit, thousands apart. */
export function grouped(number: number): string {
  const [whole = '', ...fraction] = String(number).split('.')
  return [whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ','), ...fraction].join('.')
}
