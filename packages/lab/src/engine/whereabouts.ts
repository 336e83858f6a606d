/** Where each event is, by its id: nowhere, among the near ones at a place, or among the far ones at a slot. */
export class Whereabouts {
  of: Int32Array = new Int32Array(FIRST_CAPACITY).fill(NOWHERE)

  makeRoomFor(id: number): void {
    if (id < this.of.length) return
    const of = new Int32Array(Math.max(id + 1, 2 * this.of.length)).fill(NOWHERE)
    of.set(this.of)
    this.of = of
  }
}

export const NOWHERE = -1

export function isNear(where: number): boolean {
  return where >= 0
}

/** Places of near events are counted from zero up; slots of far ones from minus two down. */
export function farSlot(where: number): number {
  return -2 - where
}

const FIRST_CAPACITY = 4_096
