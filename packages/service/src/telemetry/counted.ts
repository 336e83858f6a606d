import { GIVE_UP_REASONS } from '@secondwind/resilience'
import { Counter, Histogram, type Registry } from '@prometheus-io/client'
import { HOLD_REASONS } from '../task/lane-view.ts'
import type { AttemptOutcome } from '../task/task.ts'
import { OTHER } from './destinations.ts'
import type { AttemptEnded, DispatchEvents, Held, TaskEnded } from './events.ts'

/** From the bar of five milliseconds in both directions. */
const OVERHEAD_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
const LATENESS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 15, 60, 300, 900, 3_600]
/** From an answer at the first attempt to the patience of a week. */
const AGE_SECONDS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 43_200, 86_400, 259_200, 604_800]

const OUTCOMES: readonly AttemptOutcome[] = ['success', 'transient', 'throttled', 'ambiguous', 'permanent', 'ignored']

/**
 * What happened, counted. Series begin at 0 wherever their labels are known beforehand: the first step up from nothing
 * is one that no rate can see.
 */
export class CountedEvents implements DispatchEvents {
  readonly #attempts: Counter<'outcome' | 'policy'>
  readonly #age: Histogram<'policy'>
  readonly #deadLetters: Counter<'reason'>
  readonly #held: Counter<'reason'>
  readonly #lateness: Histogram
  readonly #ownLateness: Histogram
  readonly #overhead: Histogram
  readonly #policies = new Set<string>()
  readonly #mostPolicies: number

  constructor(registry: Registry, mostPolicies: number) {
    this.#mostPolicies = mostPolicies
    const registers = [registry]
    this.#attempts = new Counter({
      name: 'retry_attempts_total',
      help: 'Attempts made, by what they came to.',
      labelNames: ['outcome', 'policy'],
      registers,
    })
    this.#age = new Histogram({
      name: 'retry_task_age_seconds',
      help: 'How old tasks were when they ended.',
      labelNames: ['policy'],
      buckets: AGE_SECONDS,
      registers,
    })
    this.#deadLetters = new Counter({
      name: 'retry_dead_letters_total',
      help: 'Tasks that were given up, by reason.',
      labelNames: ['reason'],
      registers,
    })
    this.#held = new Counter({
      name: 'retry_held_seconds_total',
      help: 'How long lanes with a due task were kept waiting, by what kept them.',
      labelNames: ['reason'],
      registers,
    })
    this.#lateness = new Histogram({
      name: 'retry_lateness_seconds',
      help: 'How long after they were due attempts began.',
      buckets: LATENESS_SECONDS,
      registers,
    })
    this.#ownLateness = new Histogram({
      name: 'retry_own_lateness_seconds',
      help: 'How much of that no gate held: from due, or from the opening of the gate when that was later.',
      buckets: LATENESS_SECONDS,
      registers,
    })
    this.#overhead = new Histogram({
      name: 'retry_scheduling_overhead_seconds',
      help: 'The same without the wait for a slot: the work of the service itself.',
      buckets: OVERHEAD_SECONDS,
      registers,
    })
    for (const reason of GIVE_UP_REASONS) this.#deadLetters.inc({ reason }, 0)
    for (const reason of HOLD_REASONS) this.#held.inc({ reason }, 0)
  }

  attemptEnded({ policyId, outcome, latenessMs, ownLatenessMs, overheadMs }: AttemptEnded): void {
    this.#attempts.inc({ outcome, policy: this.#policyLabel(policyId) })
    this.#lateness.observe(seconds(latenessMs))
    this.#ownLateness.observe(seconds(ownLatenessMs))
    this.#overhead.observe(seconds(overheadMs))
  }

  taskChanged(): void {}

  taskEnded({ policyId, reason, ageMs }: TaskEnded): void {
    this.#age.observe({ policy: this.#policyLabel(policyId) }, seconds(ageMs))
    if (reason !== undefined) this.#deadLetters.inc({ reason })
  }

  held({ reason, ms }: Held): void {
    this.#held.inc({ reason }, seconds(ms))
  }

  breakerChanged(): void {}

  /** It was counted when its lease ended. */
  orphan(): void {}

  warning(): void {}

  /** Policies are named by callers: the first so many have a series of their own. */
  #policyLabel(policyId: string): string {
    if (this.#policies.has(policyId)) return policyId
    if (this.#policies.size >= this.#mostPolicies) return OTHER
    this.#policies.add(policyId)
    for (const outcome of OUTCOMES) this.#attempts.inc({ outcome, policy: policyId }, 0)
    return policyId
  }
}

/** A clock that was set back makes a duration negative, and a counter that goes down is refused. */
function seconds(ms: number): number {
  return Number.isFinite(ms) ? Math.max(0, ms) / 1_000 : 0
}
