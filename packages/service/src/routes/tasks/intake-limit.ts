import type { Clock, Random } from '@secondwind/resilience'
import { newSharedRate, takeToken } from '../../task/shared-rate.ts'
import { comeBackAfter, Refusal } from '../answers/refusal.ts'
import type { ApiLimits } from '../context.ts'

/** Turns away whoever brings tasks faster than the service is set up to take them; no tenant uses up what others need. */
export function createIntakeLimit(
  { intakePerSecond }: ApiLimits,
  clock: Clock,
  random: Random,
): (tenant: string) => void {
  if (intakePerSecond === undefined) return () => undefined
  const burst = Math.max(1, Math.ceil(intakePerSecond))
  const rate = newSharedRate({ perSecond: intakePerSecond, burst }, clock.monotonic())
  // Nobody waits: the caller is told when to come back, and holds no connection meanwhile.
  return tenant => {
    const waitMs = takeToken(rate, tenant, clock.monotonic())
    if (waitMs > 0)
      throw new Refusal('intake-limited', {
        detail: `At most ${intakePerSecond} requests a second may bring tasks, shared by all tenants; a batch is one request.`,
        headers: comeBackAfter(waitMs, random()),
      })
  }
}
