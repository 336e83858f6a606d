import { checkLane, type LaneInput } from '@secondwind/resilience/rules'
import type { Reader } from '../input/read-options.ts'

/** What the rules for lanes take, which the service asks as well: what is allowed is said by them alone. */
export function byLaneRules(read: Reader<number>, laneWith: (value: number) => LaneInput): Reader<number> {
  return typed => {
    const answer = read(typed)
    const [problem] = 'value' in answer ? checkLane(laneWith(answer.value)) : []
    return problem === undefined ? answer : { must: problem.say.replace(/^must be /, '') }
  }
}

/** Whatever else is typed is no number, and the rules say what it must be. */
export const digits: Reader<number> = typed => ({ value: /^\d+$/.test(String(typed)) ? Number(typed) : Number.NaN })
