import { NOT_ARMED, type Alarm } from './clock.ts'

/**
 * Alarms by due instant. The heap itself is made of numbers: moving them costs a tenth of moving references, which
 * the garbage collector must be told of, and a hundred thousand waiting operations move a lot.
 */
export class AlarmHeap {
  /** By slot: the alarm, and its place in the heap. A slot is an alarm's own until it is removed. */
  readonly #alarms: (Alarm | undefined)[] = []
  readonly #placeOf: number[] = []
  readonly #freeSlots: number[] = []
  /** By place: when, and whose slot. */
  readonly #dueAt: number[] = []
  readonly #slotAt: number[] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  get first(): Alarm | undefined {
    return this.#size === 0 ? undefined : this.#alarms[this.#slotAt[0]!]
  }

  add(alarm: Alarm): void {
    const slot = this.#freeSlots.pop() ?? this.#alarms.length
    this.#alarms[slot] = alarm
    alarm.slot = slot
    this.#rise(this.#size++, alarm.dueAt, slot)
  }

  remove(alarm: Alarm): void {
    const { slot } = alarm
    if (slot === NOT_ARMED) return
    alarm.slot = NOT_ARMED
    this.#alarms[slot] = undefined
    this.#freeSlots.push(slot)
    const gap = this.#placeOf[slot]!
    const last = --this.#size
    if (gap === last) return
    // The last one fills the gap; from there it may belong further up or further down.
    const dueAt = this.#dueAt[last]!
    const lastSlot = this.#slotAt[last]!
    if (gap > 0 && dueAt < this.#dueAt[(gap - 1) >> 2]!) this.#rise(gap, dueAt, lastSlot)
    else this.#sink(gap, dueAt, lastSlot)
  }

  #rise(place: number, dueAt: number, slot: number): void {
    while (place > 0) {
      const above = (place - 1) >> 2
      if (this.#dueAt[above]! <= dueAt) break
      this.#put(place, this.#dueAt[above]!, this.#slotAt[above]!)
      place = above
    }
    this.#put(place, dueAt, slot)
  }

  #sink(place: number, dueAt: number, slot: number): void {
    for (;;) {
      const below = this.#firstBelow(place)
      if (below === place || this.#dueAt[below]! >= dueAt) break
      this.#put(place, this.#dueAt[below]!, this.#slotAt[below]!)
      place = below
    }
    this.#put(place, dueAt, slot)
  }

  /** Four below each: a flatter heap, whose neighbours lie side by side. The place itself when there is none. */
  #firstBelow(place: number): number {
    let first = 4 * place + 1
    if (first >= this.#size) return place
    const end = Math.min(first + 4, this.#size)
    for (let below = first + 1; below < end; below++) if (this.#dueAt[below]! < this.#dueAt[first]!) first = below
    return first
  }

  #put(place: number, dueAt: number, slot: number): void {
    this.#dueAt[place] = dueAt
    this.#slotAt[place] = slot
    this.#placeOf[slot] = place
  }
}
