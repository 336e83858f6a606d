import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { describeFailure, eachWithoutProblem, Failure, failureDocument, problemsFailure } from './failure.ts'

const DOCUMENT = { code: 'invalid-scenario', what: 'the scenario has problems' }

describe('a failure', () => {
  it('tells what nobody could write down without writing it down', () => {
    let deep: unknown = []
    for (let depth = 0; depth < 100_000; depth++) deep = [deep]
    const failure = problemsFailure(DOCUMENT, [{ at: '', is: deep, say: 'must be an object' }])
    assert.match(describeFailure(failure), /the document must be an object \(is "nested too deeply to be shown"\)/)
    assert.match(JSON.stringify(failureDocument(failure)), /"is":"nested too deeply to be shown"/)
  })

  it('tells people twenty facts, and programs all of them', () => {
    const problems = Array.from({ length: 1_023 }, (_, index) => ({ at: `atMs.${index}`, is: 'x', say: 'is no time' }))
    const failure = problemsFailure(DOCUMENT, problems)
    const lines = describeFailure(failure).split('\n')
    assert.equal(lines.filter(line => line.includes('is no time')).length, 20)
    assert.ok(lines.includes('  and 1,003 more; --json lists them all'))
    assert.equal((failureDocument(failure) as { error: { problems: unknown[] } }).error.problems.length, 1_023)
  })
})

describe('several that may fail', () => {
  const refuse = (number: number): number => {
    if (number > 0) return number
    throw problemsFailure(DOCUMENT, [{ at: 'count', is: number, say: 'must be more than 0' }])
  }

  it('give their values, or the problems of all of them in one failure', async () => {
    assert.deepEqual(await eachWithoutProblem([1, 2], String, refuse), [1, 2])
    await assert.rejects(eachWithoutProblem([0, 1, -1], String, refuse), (error: unknown) => {
      assert.ok(error instanceof Failure)
      assert.equal(error.message, '2 of 3 have problems')
      assert.deepEqual(
        error.parts.problems?.map(({ at }) => at),
        ['0: count', '-1: count'],
      )
      return true
    })
  })

  it('fail like the one that fails, if it is the only one or all fail alike', async () => {
    await assert.rejects(eachWithoutProblem([1, 0], String, refuse), { message: DOCUMENT.what })
    await assert.rejects(eachWithoutProblem([0, 1, 0], String, refuse), { message: DOCUMENT.what })
    const broken = (): number => {
      throw new RangeError('no')
    }
    await assert.rejects(eachWithoutProblem([0, 1], String, broken), RangeError)
  })
})
