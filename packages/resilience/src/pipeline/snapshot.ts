import { checkSnapshot, type BreakerSnapshot } from '../breaker/snapshot.ts'
import { isRecord, type Problem } from '../check/problems.ts'

/** What the keys of a pipeline have learned, as JSON. */
export interface PipelineSnapshot {
  readonly name: string
  readonly keys: readonly KeySnapshot[]
}

export interface KeySnapshot {
  readonly key: string
  readonly breaker?: BreakerSnapshot
  /** The limit on calls under way that was found. */
  readonly limit?: number
}

/** All problems of what claims to be a snapshot: it may come from a file. */
export function checkPipelineSnapshot(input: unknown, name: string): Problem[] {
  if (!isRecord(input) || !Array.isArray(input['keys']))
    return [{ at: 'snapshot', is: typeof input, say: 'must be what snapshot() returned' }]
  if (input['name'] !== name)
    return [{ at: 'name', is: input['name'], say: `must be ${name}: it is another pipeline's` }]
  return input['keys'].flatMap((entry: unknown, place) => {
    const at = `keys[${place}]`
    if (!isRecord(entry) || typeof entry['key'] !== 'string')
      return [{ at, is: entry, say: 'must be an object with a key' }]
    const { breaker, limit } = entry
    return [
      ...(breaker === undefined ? [] : checkSnapshot(breaker).map(problem => ({ ...problem, at: `${at}.breaker` }))),
      ...(limit === undefined || (typeof limit === 'number' && limit >= 1)
        ? []
        : [{ at: `${at}.limit`, is: limit, say: 'must be a number, 1 or more' }]),
    ]
  })
}
