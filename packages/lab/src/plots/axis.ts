/** Axes: which values get a mark, and where a value lies between the ends. */
import { sayMs, unitFor, type Unit } from './format.ts'

export interface Axis {
  readonly min: number
  readonly max: number
  readonly ticks: readonly Tick[]
  /** Where a value lies: 0 at the beginning, 1 at the end, never outside. */
  readonly place: (value: number) => number
}

export interface Tick {
  readonly value: number
  readonly label: string
}

/** From zero to the first mark that nothing passes, with about so many marks. */
export function amountAxis(largest: number, parts: number, say: (value: number) => string): Axis {
  const step = roundStep((largest || 1) / parts)
  const count = Math.max(1, Math.ceil((largest || 1) / step - 1e-9))
  const ticks = Array.from({ length: count + 1 }, (_, index) => ({ value: index * step, label: say(index * step) }))
  return linear(0, count * step, ticks)
}

/** From zero to exactly the end of the data: time that was not looked at is not drawn. */
export function timeAxis(endMs: number, parts: number): Axis {
  const unit = unitFor(endMs)
  const stepMs = timeStep(endMs / parts, unit)
  const count = Math.floor(endMs / stepMs + 1e-9)
  const ticks = Array.from({ length: count + 1 }, (_, index) => tickAt(index * stepMs, unit))
  return linear(0, endMs, ticks)
}

/** Marks that people know from clocks. */
const LOG_TICKS_MS = [
  1, 10, 100, 1_000, 10_000, 60_000, 600_000, 3_600_000, 21_600_000, 86_400_000, 604_800_000, 2_592_000_000,
] as const

/** Equal factors are equally far apart. Everything before the beginning, zero too, lies on it. */
export function logTimeAxis(fromMs: number, toMs: number): Axis {
  const min = LOG_TICKS_MS.findLast(tick => tick <= fromMs) ?? LOG_TICKS_MS[0]
  const max = Math.max(toMs, 10 * min)
  const ticks = LOG_TICKS_MS.filter(tick => tick >= min && tick <= max).map(value => ({ value, label: sayMs(value) }))
  return {
    min,
    max,
    ticks,
    place: value => within(Math.log(Math.max(min, value) / min) / Math.log(max / min)),
  }
}

function linear(min: number, max: number, ticks: readonly Tick[]): Axis {
  return { min, max, ticks, place: value => within((value - min) / (max - min)) }
}

function within(place: number): number {
  return Math.min(1, Math.max(0, place))
}

function tickAt(value: number, unit: Unit): Tick {
  return { value, label: sayMs(value, unit) }
}

/** 1, 2, 2.5 or 5 times a power of ten: the next that is not smaller. */
export function roundStep(atLeast: number): number {
  const power = 10 ** Math.floor(Math.log10(atLeast))
  const factor = [1, 2, 2.5, 5, 10].find(factor => factor * power >= atLeast * (1 - 1e-9)) ?? 10
  return factor * power
}

/** Sixtieths for what has sixty parts. */
function timeStep(atLeastMs: number, unit: Unit): number {
  const atLeast = atLeastMs / unit.lengthMs
  const sixties = unit.name === 's' || unit.name === 'min' ? [1, 2, 5, 10, 15, 30, 60] : [1, 2, 3, 6, 12, 24]
  const useful = unit.name === 'ms' || atLeast < 1 ? undefined : sixties.find(step => step >= atLeast)
  return (useful ?? roundStep(atLeast)) * unit.lengthMs
}
