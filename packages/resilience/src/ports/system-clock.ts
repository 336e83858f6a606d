import { AlarmHeap } from './alarm-heap.ts'
import { NOT_ARMED, type Alarm, type Clock } from './clock.ts'
import { runIn } from './context.ts'
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

/** Then the clock is read anew: a reading costs about as much as a ring, and a few of those make no difference to it. */
const RINGS_PER_READING = 16

/** In `slot`: the alarm waits among the newcomers, or has left and still stands there. */
const NEW = -2
const GONE = -3

/** Within one turn of the event loop no timer tidies up: when so many have left the pile from its middle it is done by the way. */
const MOST_GONE = 1_024

/**
 * What is armed goes here first. Often made anew, so that it is as young as what stands on it: a reference from an old object
 * to a young one is noted for the garbage collector, and that would cost as much as all the rest of arming.
 */
interface Pile {
  newest: Alarm | undefined
  /** How often it may be emptied before another takes its place. */
  usesLeft: number
}

const newPile = (): Pile => ({ newest: undefined, usesLeft: 64 })

/**
 * One heap and one timer for all alarms. What is armed goes on a pile first, and into the heap when the timer fires and
 * it is not yet due: most alarms leave the pile as they came, from its top, or are rung right from it, which costs one
 * reference written and not a place found.
 */
class SystemClock implements Clock {
  readonly #alarms = new AlarmHeap()
  #pile = newPile()
  #roomForGone = MOST_GONE
  #timer: ReturnType<typeof setTimeout> | undefined
  #hopping = false
  #timerDueAt = Infinity
  #setTimeout: unknown
  /** Kept, for in Node the global is a getter, and reading it costs as much as reading the clock. */
  #performance!: Performance

  now(): number {
    return Date.now()
  }

  monotonic(): number {
    if (this.#setTimeout !== setTimeout) this.#lookAround()
    return this.#performance.now()
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal)
  }

  arm(alarm: Alarm): void {
    if (this.#setTimeout !== setTimeout) this.#lookAround()
    if (alarm.slot === NOT_ARMED) {
      alarm.behind = this.#pile.newest
      this.#pile.newest = alarm
    } else if (alarm.slot === GONE) this.#roomForGone++
    alarm.slot = NEW
    if (!(alarm.dueAt >= this.#timerDueAt)) this.#hop(alarm)
  }

  disarm(alarm: Alarm): void {
    if (alarm.slot >= 0) this.#alarms.remove(alarm)
    else if (alarm === this.#pile.newest) {
      alarm.slot = NOT_ARMED
      this.#uncover(alarm.behind)
      alarm.behind = undefined
    } else if (alarm.slot === NEW) {
      alarm.slot = GONE
      if (--this.#roomForGone === 0) for (const newcomer of this.#takeNewcomers()) this.#admit(newcomer)
    }
    if (!this.#hopping && this.#pile.newest === undefined && this.#alarms.size === 0) this.#stopTimer()
  }

  /** Fake timers come and go, all together, and take what was set with them: a timer of another clock never fires on this. */
  #lookAround(): void {
    this.#setTimeout = setTimeout
    this.#performance = performance
    this.#forgetTimer()
  }

  /** The top of the pile has left: with it go those below it that had left already. */
  #uncover(alarm: Alarm | undefined): void {
    while (alarm?.slot === GONE) {
      const { behind } = alarm
      alarm.slot = NOT_ARMED
      alarm.behind = undefined
      this.#roomForGone++
      alarm = behind
    }
    if (alarm === undefined && --this.#pile.usesLeft === 0) this.#pile = newPile()
    else this.#pile.newest = alarm
  }

  /** The pile, which is empty then: whoever is there, the newest first. */
  #takeNewcomers(): Alarm[] {
    const there: Alarm[] = []
    let alarm = this.#pile.newest
    this.#pile = newPile()
    this.#roomForGone = MOST_GONE
    while (alarm !== undefined) {
      const { behind } = alarm
      alarm.behind = undefined
      if (alarm.slot === NEW) there.push(alarm)
      else alarm.slot = NOT_ARMED
      alarm = behind
    }
    return there
  }

  /** The first of the heap, else the oldest newcomer; newcomers that are not due yet find their place in the heap. */
  #takeDue(newcomers: Alarm[], now: number): Alarm | undefined {
    let due = this.#alarms.first
    if (due !== undefined && due.dueAt <= now) {
      this.#alarms.remove(due)
      return due
    }
    while ((due = newcomers.pop()) !== undefined) {
      if (due.slot === NEW && due.dueAt <= now) {
        due.slot = NOT_ARMED
        return due
      }
      this.#admit(due)
    }
    return undefined
  }

  /** Into the heap, unless it has left since it was taken from the pile. */
  #admit(newcomer: Alarm): void {
    if (newcomer.slot === NEW) this.#alarms.add(newcomer)
    else newcomer.slot = NOT_ARMED
  }

  #hop(alarm: Alarm): void {
    const now = this.monotonic()
    // Nothing is before or after no number: in a heap it would keep all others from being found.
    if (Number.isNaN(alarm.dueAt)) alarm.dueAt = 0
    if (this.#timer !== undefined || alarm.dueAt - now <= HOP_MS) return this.#setTimer(alarm.dueAt, now)
    this.#setTimer(now + HOP_MS, now)
    this.#hopping = true
  }

  #setTimer(dueAt: number, now: number): void {
    this.#stopTimer()
    // Rounded up: a timer that fires a fraction early would find nothing due and be set a second time.
    const ms = Math.min(Math.max(0, Math.ceil(dueAt - now)), LONGEST_TIMER_MS)
    this.#timerDueAt = dueAt
    this.#timer = runIn(undefined, () => setTimeout(this.#fire, ms))
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
    let now = this.monotonic()
    const newcomers = this.#takeNewcomers()
    let left = RINGS_PER_TURN
    try {
      for (let due = this.#takeDue(newcomers, now); due !== undefined; due = this.#takeDue(newcomers, now)) {
        due.ring(now)
        if (--left === 0) break
        if (left % RINGS_PER_READING === 0) now = this.monotonic()
      }
    } finally {
      // Also when a ring threw: the others are still waiting.
      for (const alarm of newcomers) this.#admit(alarm)
      const next = this.#alarms.first
      if (next !== undefined && next.dueAt < this.#timerDueAt) this.#setTimer(next.dueAt, now)
    }
  }
}

/** The clock of the machine: what every policy uses unless a test injects another. */
export const systemClock: Clock = /* @__PURE__ */ new SystemClock()
