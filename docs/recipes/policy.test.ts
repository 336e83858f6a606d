import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
// #region import
import { checkPolicy, explainPolicy, retry } from '@secondwind/resilience'
// #endregion
import {
  checkBreaker,
  DEFAULT_BREAKER,
  DEFAULT_BUDGET,
  DEFAULT_POLICY,
  InvalidPolicyError,
  presets,
} from '@secondwind/resilience'
import { instantTime } from './instant-time.ts'

instantTime()

/** The JSON blocks of a page, in their order. */
function jsonOf(page: string): unknown[] {
  const text = readFileSync(new URL(`../${page}`, import.meta.url), 'utf8')
  return Array.from(text.matchAll(/^```json\n(.*?)^```$/gms), ([, json]) => JSON.parse(json!))
}

describe('a policy', () => {
  it('is a document that can be kept in a file', async () => {
    const reads: number[] = []
    const readStock = async (): Promise<string> => {
      if (reads.push(reads.length) < 4) throw Object.assign(new Error('busy'), { status: 503 })
      return 'seven'
    }
    const text = JSON.stringify({ maxAttempts: 4, initialDelayMs: 50, jitterType: 'EQUAL' })
    // #region document
    const policy = JSON.parse(text) // { "maxAttempts": 4, "initialDelayMs": 50, "jitterType": "EQUAL" }
    const stock = await retry(readStock, policy)
    // #endregion
    assert.equal(stock, 'seven')
  })

  it('is refused with every problem at once', () => {
    // #region check
    const { problems } = checkPolicy({ maxAtempts: 3, retries: 2, jitterRatio: 2, jitterType: 'full' })
    // maxAtempts   is an unknown field; did you mean maxAttempts?
    // retries      is an unknown field; did you mean maxAttempts, which counts all calls (retries + 1)?
    // jitterRatio  must be a number from 0 to 1
    // jitterType   must be one of NONE, FULL, EQUAL, DECORRELATED, PROPORTIONAL
    // #endregion
    assert.deepEqual(
      problems?.map(({ at, say }) => `${at.padEnd(11)}  ${say}`),
      [
        'maxAtempts   is an unknown field; did you mean maxAttempts?',
        'retries      is an unknown field; did you mean maxAttempts, which counts all calls (retries + 1)?',
        'jitterRatio  must be a number from 0 to 1',
        'jitterType   must be one of NONE, FULL, EQUAL, DECORRELATED, PROPORTIONAL',
      ],
    )
  })

  it('is refused by retry before any call is made', async () => {
    const work = vi.fn<() => void>()
    await assert.rejects(retry(work, { maxAttempts: 0 }), InvalidPolicyError)
    assert.equal(work.mock.calls.length, 0)
  })

  it('says in words what it will do', () => {
    const log = vi.spyOn(console, 'log').mockReturnValue()
    // #region explain
    const explained = explainPolicy({ maxAttempts: 4, totalBudgetMs: 5_000 })
    if (explained.problems === undefined) {
      console.log(explained.sentence)
      // 4 attempts, each within 100 ms, 200 ms, 400 ms of the one before, at most 10 s long and all within 5 s; …
      for (const { at, say } of explained.warnings) console.log(at, say)
      // attemptTimeoutMs a call that hangs leaves no time in totalBudgetMs for another
    }
    // #endregion
    expect(log).toHaveBeenCalledWith(
      '4 attempts, each within 100 ms, 200 ms, 400 ms of the one before, at most 10 s long and all within 5 s; then the last error',
    )
    expect(log).toHaveBeenCalledWith(
      'attemptTimeoutMs',
      'a call that hangs leaves no time in totalBudgetMs for another',
    )
  })

  it('has presets for the usual places, and those that others have published', async () => {
    const sendReport = async (): Promise<string> => 'sent'
    // #region preset
    const report = await retry(sendReport, { ...presets.background.retry, maxAttempts: 5 })
    // #endregion
    assert.equal(report, 'sent')
  })
})

describe('what the pages show', () => {
  it('is the default policy', () => {
    assert.deepEqual(jsonOf('policy.md')[0], DEFAULT_POLICY)
  })

  it('is a pipeline that can be kept', () => {
    assert.equal(checkPolicy(jsonOf('policy.md')[1]).problems, undefined)
  })

  it('is the default budget and the default breaker', () => {
    const [budget, breaker] = jsonOf('budgets-and-breakers.md')
    assert.deepEqual(budget, DEFAULT_BUDGET)
    assert.deepEqual(breaker, DEFAULT_BREAKER)
    assert.deepEqual(checkBreaker(breaker), [])
  })

  it('is every preset, in its own words', () => {
    const page = readFileSync(new URL('../policy.md', import.meta.url), 'utf8')
    const rows = Object.entries(presets).map(([name, { budget, ...pipeline }]) => {
      const explained = explainPolicy({ ...pipeline, budget })
      assert.ok(explained.problems === undefined && budget)
      return `| \`${name}\` | ${explained.sentence} | \`${budget.kind}\` |`
    })
    assert.deepEqual(
      rows.filter(row => !page.includes(row)),
      [],
    )
  })
})
