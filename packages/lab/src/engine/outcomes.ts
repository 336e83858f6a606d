import { GIVE_UP_REASONS, type Fault, type GiveUpReason, type Outcome } from '@secondwind/resilience'

/** Outcomes as numbers, for rows: their place in this list. A station adds those that name a wait. */
export const OUTCOMES: readonly Outcome[] = [
  { kind: 'success' },
  { kind: 'failure', fault: 'transient' },
  { kind: 'failure', fault: 'throttled' },
  { kind: 'failure', fault: 'ambiguous' },
  { kind: 'failure', fault: 'transient', unsent: true },
  { kind: 'failure', fault: 'ignored' },
]
export const SUCCESS = 0
export const TRANSIENT = 1
export const THROTTLED = 2
export const AMBIGUOUS = 3
export const UNSENT = 4
export const IGNORED = 5

export function faultOf(outcome: Outcome): Fault | undefined {
  return outcome.kind === 'failure' ? outcome.fault : undefined
}

/** Reasons as numbers; −1 is a success. */
export function codeOf(reason: GiveUpReason): number {
  return CODES.get(reason)!
}

const CODES: ReadonlyMap<GiveUpReason, number> = new Map(GIVE_UP_REASONS.map((reason, code) => [reason, code]))

export const WELL = -1
export const DEADLINE: number = codeOf('deadline')
export const BUDGET: number = codeOf('budget')
export const BREAKER_OPEN: number = codeOf('breaker-open')
export const REFUSED: number = codeOf('throttled')
export const KILLED: number = codeOf('killed')
export const ABORTED: number = codeOf('aborted')
