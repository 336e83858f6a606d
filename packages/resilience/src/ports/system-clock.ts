import { AlarmHeap } from './alarm-heap.ts'
import type { Alarm, Clock } from './clock.ts'
import { sleepOn } from './sleep.ts'

/** A timer set further ahead fires at once, in every runtime. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * Most alarms are time-outs that are disarmed long before they are due, often within the same turn of the event
 * loop. So the first alarm sets a timer of one hop only: whoever is still there when it fires is worth a real timer.
 * A burst of quick calls costs one timer per millisecond, and a quiet clock has none.
 */
const HOP_MS = 1

/** Then other work gets its turn: a herd that wakes at once must not hold the event loop. */
const RINGS_PER_TURN = 1_000

class SystemClock implements Clock {
  readonly #alarms = new AlarmHeap()
  #timer: ReturnType<typeof setTimeout> | undefined
  #hopping = false
  #timerDueAt = Infinity
  #timers: unknown = undefined

  now(): number {
    return Date.now()
  }

  monotonic(): number {
    return performance.now()
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal)
  }

  arm(alarm: Alarm): void {
    // Fake timers come and go, and take what was set with them: a timer of another clock will never fire on this one.
    if (this.#timers !== setTimeout) this.#forgetTimer()
    this.#timers = setTimeout
    // Nothing is before or after no number: in a heap it would keep all others from being found.
    if (Number.isNaN(alarm.dueAt)) alarm.dueAt = 0
    this.#alarms.add(alarm)
    if (alarm.dueAt < this.#timerDueAt) this.#hop(alarm.dueAt)
  }

  disarm(alarm: Alarm): void {
    this.#alarms.remove(alarm)
    if (this.#alarms.size === 0 && !this.#hopping) this.#stopTimer()
  }

  #hop(dueAt: number): void {
    const now = performance.now()
    if (this.#timer !== undefined || dueAt - now <= HOP_MS) return this.#setTimer(dueAt, now)
    this.#setTimer(now + HOP_MS, now)
    this.#hopping = true
  }

  #setTimer(dueAt: number, now: number): void {
    this.#stopTimer()
    // Rounded up: a timer that fires a fraction early would find nothing due and be set a second time.
    const ms = Math.min(Math.max(0, Math.ceil(dueAt - now)), LONGEST_TIMER_MS)
    this.#timerDueAt = dueAt
    this.#timer = setTimeout(this.#fire, ms)
  }

  #stopTimer(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#forgetTimer()
  }

  #forgetTimer(): void {
    this.#timer = undefined
    this.#hopping = false
    this.#timerDueAt = Infinity
  }

  readonly #fire = (): void => {
    this.#forgetTimer()
    const now = performance.now()
    let left = RINGS_PER_TURN
    try {
      let due: Alarm | undefined
      while ((due = this.#alarms.first) !== undefined && due.dueAt <= now && left-- > 0) {
        this.#alarms.remove(due)
        due.ring()
      }
    } finally {
      // Also when a ring threw: the others are still waiting.
      const next = this.#alarms.first
      if (next !== undefined && next.dueAt < this.#timerDueAt) this.#setTimer(next.dueAt, now)
    }
  }
}

/** The clock of the machine: what every policy uses unless a test injects another. */
export const systemClock: Clock = /* @__PURE__ */ new SystemClock()
