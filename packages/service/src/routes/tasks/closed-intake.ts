import { endOf, isInForce, isInScope, queuesOf, reaches, type Control } from '../../task/control.ts'
import { laneKey, type Lane } from '../../task/lane.ts'
import { comeBackAfter, comeBackOnceOver, Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'

/** Where nobody knows when it opens, or it is long until then: worth another look after so long. */
const LOOK_AGAIN_MS = 30_000
const LATEST_LOOK_MS = 600_000

type Known = Pick<ApiContext, 'orders' | 'clock' | 'random'>

/** Turns a task away while operators let none in: all of them, or those for its destination. */
export function refuseClosedIntake(lane: Lane, policyId: string, { orders, clock, random }: Known): void {
  const now = clock.now()
  const control = orders.controls.find(
    each =>
      each.level === 'intake-off' &&
      isInForce(each, now) &&
      reaches(each, lane) &&
      isInScope(queuesOf(each), { kind: 'first', policyId }),
  )
  if (control !== undefined) throw intakeOff(control, now, random())
  const { all, own } = orders.standingFor(laneKey(lane))
  const draining = all?.draining ?? own?.draining
  if (draining === undefined) return
  const because = draining.reason === undefined ? '' : ` ("${draining.reason}")`
  throw new Refusal('draining', {
    detail: `${lane.destination} is drained${because}: what waits for it goes on, and nothing is added.`,
    headers: comeBackAfter(LOOK_AGAIN_MS, random()),
  })
}

/** Turns a body away while operators let nothing of its tenant in: it is the largest thing that comes. */
export function refuseClosedUploads(tenant: string, { orders, clock, random }: Known): void {
  const now = clock.now()
  const control = orders.controls.find(
    each => each.level === 'intake-off' && isInForce(each, now) && isForWhole(each, tenant),
  )
  if (control !== undefined) throw intakeOff(control, now, random())
}

function isForWhole({ scope, tenant: owner }: Control, tenant: string): boolean {
  return scope.kind === 'all' || (scope.kind === 'tenant' && (scope.tenant ?? owner) === tenant)
}

function intakeOff(control: Control, now: number, roll: number): Refusal {
  const leftMs = endOf(control) - now
  return new Refusal('intake-off', {
    detail: `The kill switch is at intake-off ("${control.reason}"); keep what you have, and hand it over later.`,
    headers:
      leftMs === Infinity
        ? comeBackAfter(LOOK_AGAIN_MS, roll)
        : comeBackOnceOver(Math.min(leftMs, LATEST_LOOK_MS), roll),
  })
}
