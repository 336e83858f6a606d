import { lane as lanes, laneCredit } from '@secondwind/resilience/rules'
import { laneOf } from '../task/lane.ts'
import type { BreakerChanged } from '../telemetry/events.ts'
import type { AttemptSetting } from './attempt-setting.ts'
import type { ServedLane } from './served-lane.ts'

/** An attempt that ended, as its lane sees it. */
interface Lesson {
  readonly lane: ServedLane
  readonly payment: lanes.Payment
  readonly call: lanes.EndedCall
  readonly errorCode?: string | undefined
}

type Setting = Pick<AttemptSetting, 'ports' | 'steering' | 'onPhase' | 'onBack'>

/** What the lane learns from it; one that is no longer served here has nobody to tell. */
export function learn({ ports, steering, onPhase, onBack }: Setting, lesson: Lesson, now: number): void {
  const { lane, payment, call } = lesson
  const { policy, state } = lane
  const was = laneCredit.phaseOf(policy.credit, state.credit)
  const { isChanged, isBack } = lanes.end(policy, state, payment, call, now)
  if (lane.partition.phase === 'gone') return
  if (isBack) onBack(lane)
  // An answer ends the silence: what failed before it keeps its own schedule from now on.
  else if (state.credit.silentSince === null) lane.failed.clear()
  if (isChanged) {
    onPhase(lane)
    const change = breakerChange(was, lesson, now)
    if (change !== undefined) ports.events.breakerChanged(change)
  }
  steering.saw(lane, call)
}

/** A breaker that an operator holds is not said to open or close by itself. */
function breakerChange(
  was: laneCredit.CreditPhase,
  { lane, errorCode }: Lesson,
  now: number,
): BreakerChanged | undefined {
  const { policy, state } = lane
  const is = lanes.lanePhase(policy, state)
  if (is === 'open' && was !== 'open') {
    const until = Math.max(now, laneCredit.nextProbeAt(state.credit) ?? now)
    return { ...laneOf(lane.key), phase: 'open', until, errorCode }
  }
  if (was === 'open' && (is === 'closed' || is === 'half-open')) return { ...laneOf(lane.key), phase: 'closed' }
  return undefined
}
