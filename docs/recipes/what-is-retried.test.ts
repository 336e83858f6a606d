import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
// #region import
import { permanent, retry, retryAfter, transient } from '@secondwind/resilience'
// #endregion
import { instantTime } from './instant-time.ts'

instantTime()

interface Job {
  readonly state: 'starting' | 'ready'
}

/** Answers from a list, and the last answer for ever. */
function readsFrom<T>(...answers: readonly T[]): { read: (_?: unknown) => Promise<T>; calls: () => number } {
  let calls = 0
  return { read: async () => answers[Math.min(calls++, answers.length - 1)]!, calls: () => calls }
}

describe('what is retried', () => {
  it('does not include an error that says nothing: it may be a bug', async () => {
    let calls = 0
    const fetch = async (_url: string) => {
      calls++
      return new Response('', { status: 503, statusText: 'Service Unavailable' })
    }
    // #region unknown
    const work = async () => {
      const response = await fetch('https://api.example.com/stock')
      if (!response.ok) throw new Error(response.statusText)
      return response.json()
    }
    await assert.rejects(retry(work), /Service Unavailable/)
    assert.equal(calls, 1) // no rule reads a text
    // #endregion
  })

  it('includes an error that names the response as its cause, which is asked for status and wait', async () => {
    const answers = [new Response('', { status: 503, headers: { 'retry-after': '2' } }), Response.json(7)]
    const { read: fetch, calls } = readsFrom(...answers)
    const startedAt = performance.now()
    // #region cause
    const stock = await retry(async () => {
      const response = await fetch('https://api.example.com/stock')
      if (!response.ok) throw new Error(`HTTP ${response.status}`, { cause: response })
      return response.json()
    })
    // #endregion
    assert.deepEqual([stock, calls()], [7, 2])
    assert.ok(performance.now() - startedAt >= 2_000)
  })

  it('includes whatever is marked transient', async () => {
    const { read: readJob, calls } = readsFrom<Job>({ state: 'starting' }, { state: 'ready' })
    // #region transient
    const job = await retry(async () => {
      const job = await readJob()
      if (job.state === 'starting') throw transient(new Error('the job is not ready yet'))
      return job
    })
    // #endregion
    assert.deepEqual([job, calls()], [{ state: 'ready' }, 2])
  })

  it('can be told apart by the caller, error by error', async () => {
    let calls = 0
    const moveMoney = async (): Promise<string> => {
      if (++calls === 1) throw Object.assign(new Error('could not serialize access'), { code: '40001' })
      return 'moved'
    }
    // #region classify
    const isSerializationFailure = (error: unknown) => (error as { code?: unknown }).code === '40001'

    const result = await retry(
      moveMoney,
      { maxAttempts: 5 },
      {
        // undefined leaves the error to the ordinary rules.
        classify: error => (isSerializationFailure(error) ? 'transient' : undefined),
      },
    )
    // #endregion
    assert.deepEqual([result, calls], ['moved', 2])
  })

  it('leaves out what is marked permanent, and waits as long as it is told', async () => {
    let calls = 0
    const startedAt = performance.now()
    // #region marks
    const work = async () => {
      if (++calls === 1) throw retryAfter(2_000, new Error('the queue is full for two seconds'))
      throw permanent(new Error('this order was cancelled'))
    }
    // #endregion
    await assert.rejects(retry(work), /cancelled/)
    assert.equal(calls, 2)
    assert.ok(performance.now() - startedAt >= 2_000)
  })

  it('may be a returned value too', async () => {
    const { read, calls } = readsFrom({ status: 202 }, { status: 202 }, { status: 200 })
    // #region result
    const answer = await retry(
      read,
      { maxAttempts: 10 },
      {
        classifyResult: ({ status }) => (status === 202 ? 'transient' : undefined),
      },
    )
    // #endregion
    assert.deepEqual([answer, calls()], [{ status: 200 }, 3])
  })
})
