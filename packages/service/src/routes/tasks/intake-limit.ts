import type { Clock, Random } from '@secondwind/resilience'
import { rateLimit } from '@secondwind/resilience/rules'
import { comeBackAfter, Refusal } from '../answers/refusal.ts'
import type { ApiLimits } from '../context.ts'

/** Turns away whoever brings tasks faster than the service is set up to take them. */
export function createIntakeLimit({ intakePerSecond }: ApiLimits, clock: Clock, random: Random): () => void {
  if (intakePerSecond === undefined) return () => undefined
  // Nobody waits: the caller is told when to come back, and holds no connection meanwhile.
  const policy = {
    perSecond: intakePerSecond,
    burst: Math.max(1, Math.ceil(intakePerSecond)),
    maxQueued: 0,
    maxWaitMs: 1,
  }
  const bucket = rateLimit.fullBucket(policy, clock.monotonic())
  return () => {
    const now = clock.monotonic()
    const answer = rateLimit.reserve(policy, bucket, { now, deadlineAt: now })
    if (answer.kind === 'yes') rateLimit.recordStart(policy, bucket, now)
    else
      throw new Refusal('intake-limited', {
        detail: `At most ${intakePerSecond} requests a second may bring tasks; a batch is one request.`,
        headers: comeBackAfter(answer.until - now, random()),
      })
  }
}
