import { NOT_ARMED, type Alarm, type Clock } from '@secondwind/resilience'
import type { VirtualClock } from '@secondwind/resilience/testing'
import type { Dispatcher } from '../dispatcher.ts'

/**
 * A process that can be killed, stopped and put to sleep. Whatever reaches it, answers and alarms alike, goes through
 * `deliver`: a dead one hears nothing, a frozen one hears it when it thaws.
 */
export class SimulatedProcess implements Clock {
  readonly name: string
  dispatcher!: Dispatcher
  state: 'running' | 'frozen' | 'dead' = 'running'
  /** It has been well all its life: what it sent, it sent knowing what it did. */
  isUnhurt = true
  readonly #world: VirtualClock
  readonly #inbox: (() => void)[] = []
  readonly #alarms = new Map<Alarm, Alarm>()
  #wallOffsetMs = 0
  #sleptMs = 0

  constructor(name: string, world: VirtualClock) {
    this.name = name
    this.#world = world
  }

  deliver(happening: () => void): void {
    if (this.state === 'running') happening()
    else if (this.state === 'frozen') this.#inbox.push(happening)
  }

  kill(): void {
    this.state = 'dead'
    this.isUnhurt = false
    this.#inbox.length = 0
    for (const proxy of this.#alarms.values()) this.#world.disarm(proxy)
    this.#alarms.clear()
  }

  freeze(): void {
    if (this.state === 'dead') return
    this.state = 'frozen'
    this.isUnhurt = false
  }

  thaw(): void {
    if (this.state !== 'frozen') return
    this.state = 'running'
    for (let next = this.#inbox.shift(); next !== undefined && this.state === 'running'; next = this.#inbox.shift())
      next()
  }

  /** The machine slept: elapsed time stood still, the wall clock did not. Called when it wakes. */
  wake(sleptMs: number): void {
    this.#sleptMs += sleptMs
    for (const alarm of Array.from(this.#alarms.keys())) {
      this.disarm(alarm)
      this.arm(alarm)
    }
    this.thaw()
  }

  jumpWall(ms: number): void {
    this.#wallOffsetMs += ms
  }

  now(): number {
    return this.#world.now() + this.#wallOffsetMs
  }

  monotonic(): number {
    return this.#world.monotonic() - this.#sleptMs
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const alarm: Alarm = { dueAt: this.monotonic() + ms, slot: NOT_ARMED, ring: () => resolve() }
      this.arm(alarm)
      signal?.addEventListener('abort', () => {
        this.disarm(alarm)
        reject(signal.reason)
      })
    })
  }

  arm(alarm: Alarm): void {
    if (this.state === 'dead') return
    const ring = (): void => {
      // It may have been disarmed, or armed anew, while the process heard nothing.
      if (this.#alarms.get(alarm) !== proxy) return
      this.#alarms.delete(alarm)
      alarm.ring()
    }
    const proxy: Alarm = { dueAt: alarm.dueAt + this.#sleptMs, slot: NOT_ARMED, ring: () => this.deliver(ring) }
    this.#alarms.set(alarm, proxy)
    this.#world.arm(proxy)
  }

  disarm(alarm: Alarm): void {
    const proxy = this.#alarms.get(alarm)
    if (proxy === undefined) return
    this.#alarms.delete(alarm)
    this.#world.disarm(proxy)
  }
}
