/**
 * What has to be true before retries go to production, point by point, as far as a policy can show it. A point that
 * lives in code or in operation is not guessed at: it is listed with what to look for.
 */
import { checkPolicy, explainPolicy, type Explanation, type Problem } from '@secondwind/resilience'
import { POINTS, type Finding, type PointId, type Subject } from './points.ts'

export interface ChecklistPoint extends Finding {
  readonly id: PointId
  /** What is asked for. */
  readonly say: string
}

export interface ChecklistOptions {
  /** What the dependency can serve, as a multiple of its usual load; absent: nobody said. */
  readonly headroom?: number
}

/** Every point of the list, in its order; or what is wrong with the policy. */
export function checkProduction(
  input: unknown,
  { headroom }: ChecklistOptions = {},
): readonly ChecklistPoint[] | { readonly problems: readonly Problem[] } {
  const { policy, problems } = checkPolicy(input)
  if (policy === undefined) return { problems }
  const subject: Subject = {
    ...('retry' in policy ? { retry: policy.retry, pipeline: policy } : { retry: policy }),
    explanation: explainPolicy(policy) as Explanation,
    ...(headroom === undefined ? {} : { headroom }),
  }
  return POINTS.map(({ id, say, judge }) => ({ id, say, ...judge(subject) }))
}
