import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import type { OpenStore } from './exam.test-kit.ts'
import { History } from './histories/history.test-kit.ts'
import { openModel } from './model.test-kit.ts'
import { Pair } from './histories/pair.test-kit.ts'
import { step, type Step } from './histories/steps.test-kit.ts'

export interface HistoryOptions {
  /** How many, unless the environment says it in `SECONDWIND_HISTORIES`. */
  readonly runs?: number
  /** Steps in the longest of them. */
  readonly mostSteps?: number
  /** Replays a run that failed; else `SECONDWIND_HISTORIES_SEED` of the environment, else a new one each time. */
  readonly seed?: number
  /** Leaves a history that fails as long as it was found; else it is shortened, which takes its time. */
  readonly isFirstFound?: boolean
}

const DEFAULT_RUNS = 200

/** The naive model as one side of a comparison. */
export const openModelSide: OpenStore = async ({ clock }) => ({ store: openModel({ clock }) })

export function describeHistories(name: string, open: OpenStore, options: HistoryOptions = {}): void {
  describe(`random histories of the ${name} store`, () => {
    it('are those of the model', { timeout: 7_200_000 }, async () => {
      await assert.doesNotReject(compareStores(openModelSide, open, options))
    })
  })
}

/**
 * Makes random histories in two stores at once, with clocks that leap: every answer of one must be the other's, and so
 * must all that can be read, now and then. Promises of every store are checked as well. A failure names the seed that
 * replays it, and the shortest history that still fails.
 */
export async function compareStores(openOne: OpenStore, openOther: OpenStore, options: HistoryOptions): Promise<void> {
  const { mostSteps = 160, isFirstFound = false } = options
  const runs = fromEnvironment('SECONDWIND_HISTORIES') ?? options.runs ?? DEFAULT_RUNS
  const seed = options.seed ?? fromEnvironment('SECONDWIND_HISTORIES_SEED')
  const history = fc.array(step, { minLength: 1, maxLength: mostSteps, size: 'max' })
  await fc.assert(
    fc.asyncProperty(history, steps => makeHistory(steps, [openOne, openOther])),
    { numRuns: runs, endOnFailure: isFirstFound, includeErrorInReport: true, ...(seed !== undefined && { seed }) },
  )
}

function fromEnvironment(name: string): number | undefined {
  const text = process.env[name]
  return text === undefined || text === '' ? undefined : Number(text)
}

/** Often enough to find a fault near its cause, seldom enough to have time for many histories. */
const STEPS_BETWEEN_LOOKS = 12

async function makeHistory(steps: readonly Step[], opens: readonly [OpenStore, OpenStore]): Promise<void> {
  const pair = await Pair.open(opens)
  const history = new History(pair)
  try {
    await history.begin()
    for (const [index, each] of steps.entries()) {
      await history.make(each)
      if (index % STEPS_BETWEEN_LOOKS === STEPS_BETWEEN_LOOKS - 1) await history.look()
    }
    await history.look()
  } finally {
    await pair.close()
  }
}
