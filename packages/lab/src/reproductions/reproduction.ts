import type { Measured, Unit } from '../measure/measured.ts'
import { grouped } from '../plots/format.ts'

/** A published result, with what is needed to see whether it comes out here too. */
export interface Reproduction {
  /** For the command line. */
  readonly name: string
  /** Who found it, and where. */
  readonly source: string
  /** What goes in, in words. */
  readonly inputs: string
  readonly run: (effort: Effort) => readonly Finding[]
}

/** `quick` is a few seconds for all of them together; `thorough` takes as many runs as the tolerances ask for. */
export type Effort = 'quick' | 'thorough'

export interface Finding {
  readonly what: string
  readonly theirs: string
  readonly ours: string
  readonly tolerance: string
  readonly isReproduced: boolean
  /** Absent: it is about no number. */
  readonly measured?: Measured
}

/** A number that is to be met within a share of it, or within an amount. */
export function near(what: string, values: Near): Finding {
  const { theirs, ours, within, of = 'share', unit } = values
  const allowed = of === 'share' ? within * Math.abs(theirs) : within
  return {
    what,
    theirs: say(theirs),
    ours: say(ours),
    tolerance: within === 0 ? 'exact' : of === 'share' ? `± ${say(within * 100)} %` : `± ${say(within)}`,
    isReproduced: Math.abs(ours - theirs) <= allowed + 1e-9 * Math.abs(theirs),
    measured: { unit, theirs, ours, least: theirs - allowed, most: theirs + allowed },
  }
}

interface Near {
  readonly theirs: number
  readonly ours: number
  readonly within: number
  readonly of?: 'share' | 'amount'
  readonly unit: Unit
}

/** A number that is to be in a range. */
export function between(what: string, { from, to, ours, theirs, unit }: Between): Finding {
  return {
    what,
    theirs: typeof theirs === 'number' ? say(theirs) : theirs,
    ours: say(ours),
    tolerance: `${say(from)} to ${say(to)}`,
    isReproduced: ours >= from && ours <= to,
    measured: { unit, ...(typeof theirs === 'number' && { theirs }), ours, least: from, most: to },
  }
}

interface Between {
  readonly from: number
  readonly to: number
  readonly ours: number
  /** In words, where it is no number. */
  readonly theirs: number | string
  readonly unit: Unit
}

/** Something that is so or is not. */
export function holds(what: string, { isSo, theirs, ours, measured }: Holds): Finding {
  return { what, theirs, ours, tolerance: 'must hold', isReproduced: isSo, ...(measured && { measured }) }
}

interface Holds {
  readonly isSo: boolean
  readonly theirs: string
  readonly ours: string
  readonly measured?: Measured
}

export function seedsOf(count: number): number[] {
  return Array.from({ length: count }, (_, place) => place + 1)
}

export function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length
}

function say(number: number): string {
  return grouped(Number(number.toPrecision(4)))
}
