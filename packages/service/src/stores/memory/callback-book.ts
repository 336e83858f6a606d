import { callbackKey, laneOfCallback, type Callback } from '../../task/callback.ts'
import { laneKey } from '../../task/lane.ts'
import { cursorOf } from '../cursor.ts'
import type { CallbacksPage, EndName, Page } from '../task-store.ts'

const CALLBACKS = cursorOf('callbacks', 'string')

/** Ends that are to be told, by the lane that they are told in. */
export class CallbackBook {
  /** Of each lane in the order of their ends. */
  readonly #byLane = new Map<string, Map<string, Callback>>()
  readonly #laneOf = new Map<string, string>()

  add(callback: Callback): void {
    const [key, lane] = [callbackKey(callback), laneKey(laneOfCallback(callback))]
    let callbacks = this.#byLane.get(lane)
    if (callbacks === undefined) this.#byLane.set(lane, (callbacks = new Map()))
    callbacks.set(key, callback)
    this.#laneOf.set(key, lane)
  }

  strike(end: EndName): void {
    const key = callbackKey(end)
    const lane = this.#laneOf.get(key)
    if (lane === undefined) return
    const callbacks = this.#byLane.get(lane)!
    callbacks.delete(key)
    if (callbacks.size === 0) this.#byLane.delete(lane)
    this.#laneOf.delete(key)
  }

  due({ limit, perLane, cursor }: CallbacksPage): Page<Callback> {
    const [behind] = cursor === undefined ? [''] : CALLBACKS.read(cursor)
    const lanes = [...this.#byLane.keys()].filter(lane => lane > behind).toSorted()
    const items: Callback[] = []
    for (const [at, lane] of lanes.entries()) {
      const share = Math.min(perLane, limit - items.length)
      items.push(...[...this.#byLane.get(lane)!.values()].slice(0, share))
      if (items.length >= limit && at + 1 < lanes.length) return { items, nextCursor: CALLBACKS.write([lane]) }
    }
    return { items }
  }
}
