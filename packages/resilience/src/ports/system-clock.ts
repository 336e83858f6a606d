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

/** In `slot`: the alarm waits among the newcomers, or has left and still stands there. */
const NEW = -2
const GONE = -3

/** Within one turn of the event loop no timer tidies up: at every 1,024th arming it is done by the way. */
const TIDYING_MASK = 1_023

/**
 * One heap and one timer for all alarms. What is armed goes on a pile first, and into the heap when the timer fires:
 * most alarms leave the pile as they came, from its top, which costs one reference written and not a place found.
 */
class SystemClock implements Clock {
  readonly #alarms = new AlarmHeap()
  #newest: Alarm | undefined = undefined
  #armings = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #hopping = false
  #timerDueAt = Infinity
  #setTimeout: unknown = undefined
  /** Kept, for in Node the global is a getter, and reading it costs as much as reading the clock. */
  #performance = performance

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
      alarm.behind = this.#newest
      this.#newest = alarm
    }
    alarm.slot = NEW
    if (!(alarm.dueAt >= this.#timerDueAt)) this.#hop(alarm)
    if ((++this.#armings & TIDYING_MASK) === 0) this.#admit()
  }

  disarm(alarm: Alarm): void {
    if (alarm.slot >= 0) this.#alarms.remove(alarm)
    else if (alarm.slot === NEW) {
      alarm.slot = GONE
      if (alarm === this.#newest) this.#newest = firstThere(alarm)
    }
    if (this.#newest === undefined && this.#alarms.size === 0 && !this.#hopping) this.#stopTimer()
  }

  /** Fake timers come and go, all together, and take what was set with them: a timer of another clock never fires on this. */
  #lookAround(): void {
    this.#setTimeout = setTimeout
    this.#performance = performance
    this.#forgetTimer()
  }

  /** From the pile into the heap, the oldest first: those are due first, and find their place at once. */
  #admit(): void {
    let alarm = reversed(firstThere(this.#newest))
    this.#newest = undefined
    while (alarm !== undefined) {
      const { behind } = alarm
      alarm.behind = undefined
      if (alarm.slot === NEW) this.#alarms.add(alarm)
      else alarm.slot = NOT_ARMED
      alarm = behind
    }
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
    this.#admit()
    const now = this.monotonic()
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

/** The pile without those on its top who have left it. */
function firstThere(alarm: Alarm | undefined): Alarm | undefined {
  while (alarm !== undefined && alarm.slot === GONE) {
    const { behind } = alarm
    alarm.slot = NOT_ARMED
    alarm.behind = undefined
    alarm = behind
  }
  return alarm
}

function reversed(alarm: Alarm | undefined): Alarm | undefined {
  let last: Alarm | undefined
  while (alarm !== undefined) {
    const { behind } = alarm
    alarm.behind = last
    last = alarm
    alarm = behind
  }
  return last
}

/** The clock of the machine: what every policy uses unless a test injects another. */
export const systemClock: Clock = /* @__PURE__ */ new SystemClock()
