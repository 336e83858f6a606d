import { reaches, type Control } from '../task/control.ts'
import { laneKey, type Lane } from '../task/lane.ts'

/** A control's record, as it was read. */
export interface KnownControl extends Control {
  readonly version: number
}

/** The controls that reach a lane: the same object from reading to reading, as long as they are the same. */
export interface InReach {
  readonly controls: readonly KnownControl[]
}

const NONE: InReach = { controls: [] }

/**
 * The controls of one reading, by whom they reach. Most speak of no destination, and reach all lanes of a tenant or none:
 * those lanes share the controls of the first of them, so that a lane costs one look-up however many controls there are.
 */
export class ControlsInReach {
  readonly #controls: readonly KnownControl[]
  /** Destinations that some control speaks of. */
  readonly #named: ReadonlySet<string>
  /** By tenant; where a control speaks of the destination, by lane. */
  readonly #found = new Map<string, InReach>()
  /** Of the previous reading. */
  readonly #foundBefore: ReadonlyMap<string, InReach>

  constructor(controls: readonly KnownControl[], before?: ControlsInReach) {
    this.#controls = controls
    this.#named = new Set(controls.flatMap(({ scope }) => (scope.kind === 'destination' ? scope.destination : [])))
    this.#foundBefore = before === undefined ? new Map() : before.#found
  }

  of(lane: Lane): InReach {
    if (this.#controls.length === 0) return NONE
    const name = this.#named.has(lane.destination) ? laneKey(lane) : lane.tenant
    const known = this.#found.get(name)
    if (known !== undefined) return known
    const found = this.#find(lane, this.#foundBefore.get(name))
    this.#found.set(name, found)
    return found
  }

  #find(lane: Lane, before: InReach | undefined): InReach {
    const controls = this.#controls.filter(control => reaches(control, lane))
    if (controls.length === 0) return NONE
    return before !== undefined && areSame(before.controls, controls) ? before : { controls }
  }
}

function areSame(before: readonly KnownControl[], now: readonly KnownControl[]): boolean {
  if (before.length !== now.length) return false
  return now.every(({ controlId, version }, at) => {
    const other = before[at]!
    return other.controlId === controlId && other.version === version
  })
}
