import { NOT_ARMED, type Alarm } from './clock.ts'

/** Alarms by due instant: a binary heap in which every alarm knows its slot, so that it can be taken out again. */
export class AlarmHeap {
  /** Never shortened: a heap that is filled and emptied at every call would be allocated at every call. */
  readonly #alarms: (Alarm | undefined)[] = [undefined]
  #size = 0

  get size(): number {
    return this.#size
  }

  get first(): Alarm | undefined {
    return this.#alarms[0]
  }

  add(alarm: Alarm): void {
    const slot = this.#size++
    if (slot === 0) this.#put(alarm, 0)
    else this.#rise(slot, alarm)
  }

  remove(alarm: Alarm): void {
    const { slot } = alarm
    if (slot === NOT_ARMED) return
    alarm.slot = NOT_ARMED
    const last = this.#alarms[--this.#size]!
    this.#alarms[this.#size] = undefined
    if (last === alarm) return
    // The last alarm fills the gap; from there it may belong further up or further down.
    this.#rise(slot, last)
    this.#sink(last.slot, last)
  }

  #rise(slot: number, alarm: Alarm): void {
    const alarms = this.#alarms
    while (slot > 0) {
      const above = (slot - 1) >> 1
      const parent = alarms[above]!
      if (parent.dueAt <= alarm.dueAt) break
      this.#put(parent, slot)
      slot = above
    }
    this.#put(alarm, slot)
  }

  #sink(slot: number, alarm: Alarm): void {
    const alarms = this.#alarms
    for (;;) {
      let below = 2 * slot + 1
      if (below >= this.#size) break
      if (below + 1 < this.#size && alarms[below + 1]!.dueAt < alarms[below]!.dueAt) below++
      const child = alarms[below]!
      if (child.dueAt >= alarm.dueAt) break
      this.#put(child, slot)
      slot = below
    }
    this.#put(alarm, slot)
  }

  #put(alarm: Alarm, slot: number): void {
    this.#alarms[slot] = alarm
    alarm.slot = slot
  }
}
