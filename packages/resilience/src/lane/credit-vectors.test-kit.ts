import assert from 'node:assert/strict'
import { failure, SUCCESS } from '../classify/outcome.ts'
import { nextProbeAt, takesBack } from './credit.ts'
import { withCreditDefaults, type CreditInput } from './credit-policy.ts'
import { abandon, end, lanePhase, newLane, start, type LanePhase, type LaneState, type Payment } from './decide.ts'
import { creditFor } from './gates.ts'
import type { PerKind, StartKind } from './kind.ts'
import { laneFrom, memoryOf } from './memory.ts'
import { DEFAULT_LANE, type LanePolicy } from './policy.ts'

interface Send {
  readonly do: 'send'
  readonly kind: StartKind
  readonly times?: number
  readonly roll?: number
  readonly from: 'purse' | 'probe' | 'nothing'
  readonly takes?: 'due-longest' | 'due-last'
}

interface End {
  readonly do: 'answer' | 'no-answer' | 'cut-off' | 'unsent'
  readonly kind: StartKind
  readonly times?: number
  readonly isBack?: boolean
}

interface See {
  readonly do: 'see'
  readonly credit: PerKind<number>
  readonly phase?: LanePhase
  readonly nextProbeAt?: number | null
}

interface Restart {
  readonly do: 'restart'
  readonly memory: object | null
}

type Step = { readonly at: number } & (Send | End | See | Restart)

export interface CreditCase {
  readonly name: string
  readonly policy?: CreditInput
  readonly steps: readonly Step[]
}

interface Playing {
  readonly policy: LanePolicy
  state: LaneState
  readonly underWay: PerKind<Payment[]>
}

/** Plays the steps of a case, and finds what each says. */
export function runCredit(input: CreditInput | undefined, steps: CreditCase['steps']): void {
  const policy = { ...DEFAULT_LANE, limit: 1_000, credit: withCreditDefaults(input) }
  const playing: Playing = {
    policy,
    state: newLane(policy, steps[0]?.at ?? 0),
    underWay: { first: [], retry: [], late: [] },
  }
  for (const [place, { at, ...step }] of steps.entries()) {
    const where = `step ${place + 1}, ${step.do} at ${at}`
    if (step.do === 'send') send(playing, step, at, where)
    else if (step.do === 'see') see(playing, step, at, where)
    else if (step.do === 'restart') restart(playing, step, at, where)
    else endAttempts(playing, step, at, where)
  }
}

function send({ policy, state, underWay }: Playing, step: Send, now: number, where: string): void {
  const { do: _, kind, times = 1, roll = 0, from, takes, ...rest } = step
  assert.deepEqual(rest, {}, where)
  for (let n = 0; n < times; n++) {
    const isLast = takesBack(state.credit.purses[kind])
    const payment = start(policy, state, { kind, underWay: 0, allowedUnder: policy.limit }, { now, roll })
    assert.equal(payment?.spent.from ?? 'nothing', from, where)
    if (takes !== undefined) assert.equal(isLast ? 'due-last' : 'due-longest', takes, where)
    if (payment !== undefined) underWay[kind].push(payment)
  }
}

const OUTCOMES = {
  answer: { outcome: SUCCESS, status: 200 },
  'no-answer': { outcome: failure('transient') },
  'cut-off': { outcome: failure('ignored'), isCutOff: true },
}

function endAttempts({ policy, state, underWay }: Playing, step: End, now: number, where: string): void {
  const { do: how, kind, times = 1, isBack, ...rest } = step
  assert.deepEqual(rest, {}, where)
  for (let n = 0; n < times; n++) {
    const payment = underWay[kind].shift()
    assert.ok(payment, where)
    if (how === 'unsent') abandon(policy, state, payment, now)
    else {
      const call = { ...OUTCOMES[how], durationMs: 10, inFlight: 1, roll: 0 }
      const ended = end(policy, state, payment, call, now)
      if (isBack !== undefined) assert.equal(ended.isBack, isBack, where)
    }
  }
}

function see({ policy, state }: Playing, step: See, now: number, where: string): void {
  const { do: _, credit, phase, nextProbeAt: probeAt, ...rest } = step
  assert.deepEqual(rest, {}, where)
  const seen = (kind: StartKind): number => creditFor(policy, state, kind, now)
  assert.deepEqual({ first: seen('first'), retry: seen('retry'), late: seen('late') }, credit, where)
  if (phase !== undefined) assert.equal(lanePhase(policy, state), phase, where)
  if (probeAt !== undefined) assert.equal(nextProbeAt(state.credit) ?? null, probeAt, where)
}

/** Attempts under way end elsewhere, if at all. */
function restart(playing: Playing, step: Restart, now: number, where: string): void {
  const { do: _, memory, ...rest } = step
  assert.deepEqual(rest, {}, where)
  const { policy, state, underWay } = playing
  if (memory !== null) assert.deepEqual(memoryOf(policy, state), memory, where)
  playing.state = laneFrom(policy, memory ?? undefined, now)
  for (const attempts of Object.values(underWay)) attempts.length = 0
}
