import { lane as lanes, type breaker } from '@secondwind/resilience/rules'
import { laneOf } from '../task/lane.ts'
import type { Queue } from '../task/task.ts'
import type { BreakerChanged } from '../telemetry/events.ts'
import type { AttemptSetting } from './attempt-setting.ts'
import type { ServedLane } from './served-lane.ts'

/** An attempt that ended, as its lane sees it. */
interface Lesson {
  readonly lane: ServedLane
  readonly queue: Queue
  readonly permit: breaker.Permit
  readonly call: lanes.EndedCall
  readonly errorCode?: string | undefined
}

type Setting = Pick<AttemptSetting, 'ports' | 'steering' | 'onPhase'>

/** What the lane learns from it; one that is no longer ours has nobody to tell. */
export function learn({ ports, steering, onPhase }: Setting, lesson: Lesson, now: number): void {
  const { lane, queue, permit, call } = lesson
  const { state } = lane
  const was = state.breaker.phase.kind
  const hasChanged = lanes.end(lane.policy, state, permit, call, now)
  if (lane.partition.phase === 'gone') return
  if (hasChanged) {
    onPhase(lane)
    const change = breakerChange(was, lesson, now)
    if (change !== undefined) ports.events.breakerChanged(change)
  }
  steering.saw(lane, queue, call.outcome, call.durationMs)
}

type Phase = breaker.BreakerState['phase']['kind']

/** A probe that fails opens the breaker anew: that the destination is not well was told when it first opened. */
function breakerChange(was: Phase, { lane, errorCode }: Lesson, now: number): BreakerChanged | undefined {
  const { phase } = lane.state.breaker
  if (was === 'closed' && phase.kind === 'open')
    return { ...laneOf(lane.key), phase: 'open', until: phase.until, openMs: phase.until - now, errorCode }
  if (was === 'half-open' && phase.kind === 'closed') return { ...laneOf(lane.key), phase: 'closed' }
  return undefined
}
