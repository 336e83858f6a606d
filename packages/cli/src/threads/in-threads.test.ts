import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { outageWorld } from '@secondwind/lab'
import { inThreads } from './in-threads.ts'
import { runJob } from './jobs.ts'

const script = new URL('doubling.test-kit.ts', import.meta.url)

describe('jobs in threads', () => {
  it('give their results in the order of the jobs, however many threads there are', async () => {
    const jobs = Array.from({ length: 20 }, (_, index) => index)
    for (const mostThreads of [1, 3]) {
      let done = 0
      const results = await inThreads<number, number>(jobs, { script, mostThreads, onDone: () => done++ })
      assert.deepEqual(
        results,
        jobs.map(job => job * 2),
      )
      assert.equal(done, 20)
    }
  })

  it('are scenarios, with the same results as here', async () => {
    const scenario = outageWorld({
      loadPerSecond: 20,
      capacityPerSecond: 50,
      outageMs: 1_000,
      processes: 1,
      policy: { maxAttempts: 2 },
    })
    const jobs = [1, 2].map(seed => ({ kind: 'scenario', scenario, seed, isWhole: seed === 1 }) as const)
    const results = await inThreads(jobs, { script: new URL('thread.ts', import.meta.url) })
    assert.deepEqual(results, jobs.map(runJob))
  })

  it('end with the first error of any of them', async () => {
    await assert.rejects(inThreads([1, 'throw', 3], { script, mostThreads: 2 }), { message: 'no job of mine' })
  })

  it('do not wait for a thread that has left', async () => {
    await assert.rejects(inThreads(['exit'], { script }), { message: 'a thread ended with 3 before its job' })
  })

  it('are none when there is nothing to do', async () => {
    assert.deepEqual(await inThreads([], { script }), [])
  })
})
