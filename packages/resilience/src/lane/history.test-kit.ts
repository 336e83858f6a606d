import assert from 'node:assert/strict'
import fc from 'fast-check'
import { failure, SUCCESS, type Outcome } from '../classify/outcome.ts'
import { allowance, end, limitAt, newLane, start, type LaneState, type Payment } from './decide.ts'
import { START_KINDS, type StartKind } from './kind.ts'
import { withLaneDefaults, type LaneBudget, type LaneInput, type LanePolicy } from './policy.ts'

export const NOW = 1_767_225_600_000

/** What can happen to a lane, with the ms that pass before it. */
export type Step =
  | { readonly afterMs: number; readonly do: 'start'; readonly kind: StartKind; readonly isByHand?: boolean }
  | { readonly afterMs: number; readonly do: 'end'; readonly pick: number; readonly outcome: Outcome }

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    afterMs: fc.constantFrom(0, 0, 1, 300, 2_000, 11_000),
    do: fc.constant('start'),
    kind: fc.constantFrom(...START_KINDS),
    isByHand: fc.constantFrom(false, false, false, true),
  }),
  fc.record({
    afterMs: fc.constantFrom(0, 0, 5, 700),
    do: fc.constant('end'),
    pick: fc.nat(),
    outcome: fc.constantFrom<Outcome>(
      SUCCESS,
      failure('transient'),
      failure('ambiguous'),
      failure('ignored'),
      failure('throttled', 1_500),
    ),
  }),
)

export const anySteps = fc.array(anyStep, { maxLength: 60, size: 'max' })

export const anyLane: fc.Arbitrary<LaneInput> = fc.record(
  {
    limit: fc.constantFrom(1, 3, 20),
    credit: fc.record({
      perAnswer: fc.constant({ first: 1, retry: 2, late: 1 }),
      most: fc.constantFrom({ first: 1, retry: 2, late: 1 }, { first: 5, retry: 3, late: 4 }),
      probeShare: fc.constantFrom(0.05, 0.37),
    }),
    budget: fc.constantFrom<LaneBudget>(
      { kind: 'ratio', ratio: 0.5, windowMs: 10_000, minRetries: 1 },
      { kind: 'ratio', ratio: 0.1, windowMs: 3_333, minRetries: 2, of: 'attempts', reserve: 1, minCalls: 4 },
      { kind: 'rate', perSecond: 0.3, burst: 2 },
    ),
    rateLimit: fc.constant({ perSecond: 2, burst: 4 }),
    limiter: fc.constant({ kind: 'gradient2' as const, initialLimit: 5 }),
  },
  { requiredKeys: ['limit', 'credit'] },
)

interface Played {
  readonly policy: LanePolicy
  readonly state: LaneState
  readonly now: number
  readonly underWay: number
  readonly started: StartKind | undefined
}

/** Starts only what is allowed, as the steward of a lane does. */
export function play(
  input: LaneInput,
  steps: readonly Step[],
  check: (played: Played) => void,
  taken?: LaneState,
): void {
  const policy = withLaneDefaults(input)
  const state = taken ?? newLane(policy, NOW)
  const payments: Payment[] = []
  let now = NOW
  for (const step of steps) {
    now += step.afterMs
    let started: StartKind | undefined
    if (step.do === 'start') {
      const { kind, isByHand = false } = step
      const allowed = allowance(policy, state, now, payments.length)
      const wish = { kind, isByHand, underWay: payments.length, allowedUnder: limitAt(policy, state, now) }
      const payment = start(policy, state, wish, { now, roll: 0.5 })
      assert.equal(payment !== undefined, allowed[kind] > 0 || (isByHand && allowed.byHand > 0) || isPaid(payment))
      if (payment === undefined) assert.ok(allowed.hold ?? allowed.kindHolds[kind], 'a refusal has a reason')
      else {
        payments.push(payment)
        started = kind
      }
    } else {
      const [payment] = payments.splice(step.pick % Math.max(1, payments.length), 1)
      if (payment === undefined) continue
      const status = step.outcome.kind === 'success' ? 200 : undefined
      const call = { outcome: step.outcome, status, durationMs: 20, inFlight: payments.length + 1, roll: 0.5 }
      end(policy, state, payment, call, now)
    }
    check({ policy, state, now, underWay: payments.length, started })
  }
}

/** By hand an attempt needs no budget: it may start beside another that is free, if its kind has credit. */
function isPaid(payment: Payment | undefined): boolean {
  return payment !== undefined && payment.counted === undefined && payment.spent.from !== 'hand'
}
