import { ServiceError, UnreachableError } from '@secondwind/client'
import { virtualClock } from '@secondwind/resilience/testing'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { onceBack } from './away.ts'

const AWAY = new UnreachableError('GET /replays/x', 'http://127.0.0.1:9', new Error('refused'))

/** A service that is back after so many questions. */
function asked(answers: readonly (Error | string)[]) {
  const clock = virtualClock()
  const told: string[] = []
  let question = 0
  const answer = onceBack(
    async () => {
      const given = answers[Math.min(question++, answers.length - 1)]
      if (given instanceof Error) throw given
      return given
    },
    { clock, tell: line => void told.push(line), givenUp: (_, sinceAt) => `given up, away since ${sinceAt}` },
  ).catch((error: unknown) => error)
  return { clock, told, answer }
}

describe('a service that does not answer whoever follows something', () => {
  it('is asked again once a second, and that is said once', async () => {
    const busy = new ServiceError({ asked: '', status: 503, code: 'not-ready', detail: '', problems: [] })
    const { clock, told, answer } = asked([AWAY, busy, AWAY, 'here'])
    await clock.advance(3_000)
    assert.equal(await answer, 'here')
    assert.deepEqual(told, ['no answer since 00:00:00Z: waiting for the service to come back', 'it answers again'])
  })

  it('is given up after a minute', async () => {
    const { clock, answer } = asked([AWAY])
    const startedAt = clock.now()
    await clock.advance(60_000)
    assert.equal(await answer, `given up, away since ${startedAt}`)
  })

  it('is not waited for when it has answered, be it with a no', async () => {
    const no = new ServiceError({ asked: '', status: 404, code: 'replay-not-found', detail: '', problems: [] })
    const { told, answer } = asked([no])
    assert.equal(await answer, no)
    assert.deepEqual(told, [])
  })
})
