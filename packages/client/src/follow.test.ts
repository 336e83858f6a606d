import assert from 'node:assert/strict'
import { deadline } from '@secondwind/resilience'
import { expectNoLeaks } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import { aTask, refusal, scriptedClient, TASK_ID } from './client.test-kit.ts'
import { ServiceError, UnreachableError } from './errors.ts'
import { WaitDeadlineError } from './follow.ts'

/** The first instant of the virtual clock. */
const NOW = 1_767_225_600_000

const ended = aTask({ status: 'SUCCEEDED', endedAt: NOW, version: 9 })
const inFlight = aTask({ status: 'IN_FLIGHT', version: 2 })
const dueIn = (ms: number, version = 1): { body: object } => ({
  body: aTask({ nextAttemptAt: NOW + ms, version, waits: 'waits for its next attempt' }),
})

describe('waitFor', () => {
  it('resolves with the task once it has ended, well or not', async () => {
    for (const status of ['SUCCEEDED', 'EXHAUSTED', 'CANCELLED'] as const) {
      const task = aTask({ status, endedAt: NOW })
      const { client, end } = scriptedClient([{ body: inFlight }, { body: task }])
      assert.deepEqual(await end(client.waitFor(TASK_ID)), task)
    }
  })

  it('does not look before the next attempt is due', async () => {
    const { client, server, end } = scriptedClient([dueIn(8_000), { body: ended }])
    await end(client.waitFor(TASK_ID))
    assert.equal(server.requests.length, 2)
    assert.ok(server.requests[1]!.at >= 8_000 && server.requests[1]!.at < 8_100)
  })

  it('looks every half minute though the next attempt is a day away: somebody may cancel it', async () => {
    const { client, server, end } = scriptedClient([dueIn(86_400_000), dueIn(86_400_000), { body: ended }])
    await end(client.waitFor(TASK_ID))
    assert.ok(server.requests[2]!.at < 62_000)
  })

  it('looks more and more rarely at a task that does not change, and soon again at one that does', async () => {
    const unchanged = Array.from({ length: 12 }, () => ({ body: inFlight }))
    const { client, server, end } = scriptedClient([
      ...unchanged,
      { body: aTask({ status: 'IN_FLIGHT', version: 4 }) },
      { body: ended },
    ])
    await end(client.waitFor(TASK_ID))
    const gaps = server.requests.slice(1).map(({ at }, place) => at - server.requests[place]!.at)
    assert.ok(gaps[0]! <= 50 && gaps[11]! >= 2_500 && gaps[12]! <= 50, gaps.join(' '))
  })

  it('fails at once when no further look would be in time, and shows the task as it is', async () => {
    const { client, end, clock } = scriptedClient([dueIn(8_000)])
    const error = await end(client.waitFor(TASK_ID, { deadline: { inMs: 5_000 } })).catch((late: unknown) => late)
    assert.ok(error instanceof WaitDeadlineError)
    assert.equal(error.code, 'deadline')
    assert.equal(error.task!.nextAttemptAt, NOW + 8_000)
    assert.match(error.message, /is PENDING and waits for its next attempt: it does not end within the deadline/)
    assert.equal(clock.monotonic(), 0)
  })

  it('ends at its deadline in the middle of a look, too', async () => {
    for (const limit of [{ inMs: 700 }, { at: NOW + 700 }]) {
      const { client, end, clock } = scriptedClient([{ body: inFlight }, 'hang'])
      await assert.rejects(end(client.waitFor(TASK_ID, { deadline: limit })), WaitDeadlineError)
      assert.equal(clock.monotonic(), 700)
    }
  })

  it('takes a deadline that was handed on, and leaves it to its owner', async () => {
    const { client, end, clock } = scriptedClient([dueIn(8_000)])
    const handed = deadline({ inMs: 5_000 }, clock)
    await assert.rejects(end(client.waitFor(TASK_ID, { deadline: handed })), WaitDeadlineError)
    assert.equal(handed.signal.aborted, false)
    handed.release()
  })

  it('waits for a service that is away for a while, once it has been there', async () => {
    const { client, end } = scriptedClient([
      { body: inFlight },
      ...Array.from({ length: 15 }, () => 'reset'),
      { body: ended },
    ])
    assert.deepEqual(await end(client.waitFor(TASK_ID)), ended)
  })

  it('gives up on a service that stays away for a minute', async () => {
    const { client, end, clock } = scriptedClient([{ body: inFlight }, 'reset'])
    await assert.rejects(end(client.waitFor(TASK_ID)), UnreachableError)
    assert.ok(clock.monotonic() >= 60_000 && clock.monotonic() < 90_000)
  })

  it('throws at once when the first look fails, or the task is unknown', async () => {
    const away = scriptedClient(['reset'])
    await assert.rejects(away.end(away.client.waitFor(TASK_ID)), UnreachableError)
    assert.equal(away.server.requests.length, 6)
    const forgotten = scriptedClient([{ body: inFlight }, refusal(404, 'task-not-found')])
    await assert.rejects(forgotten.end(forgotten.client.waitFor(TASK_ID)), ServiceError)
  })

  it("ends with the client's own signal, whatever its reason looks like", async () => {
    const controller = new AbortController()
    const { client, clock } = scriptedClient([{ body: inFlight }, 'hang'], { signal: controller.signal })
    const waiting = client.waitFor(TASK_ID)
    waiting.catch(() => {})
    await clock.advance(100)
    const reason = new DOMException('took too long', 'TimeoutError')
    controller.abort(reason)
    await assert.rejects(waiting, reason)
    assert.equal(clock.monotonic(), 100)
  })

  it('refuses what it cannot wait by, before the first look', async () => {
    const { client, server } = scriptedClient([{ body: ended }])
    for (const wrong of [
      { deadline: 5_000 },
      { timeoutMs: 5_000 },
      { signal: new AbortController() },
      { deadline: {} },
    ])
      await assert.rejects(client.waitFor(TASK_ID, wrong as never), /the task cannot be waited for/)
    await assert.rejects(client.waitFor('..'), /must be the taskId/)
    assert.equal(server.requests.length, 0)
  })

  it('rejects with the reason of an abort, while it sleeps and while it looks, and leaves nothing behind', async () => {
    for (const script of [[dueIn(8_000)], ['hang']]) {
      const { client, clock } = scriptedClient(script)
      await expectNoLeaks(
        async leaks => {
          const controller = leaks.controller()
          const waiting = client.waitFor(TASK_ID, { signal: controller.signal, deadline: { inMs: 60_000 } })
          waiting.catch(() => {})
          await clock.advance(100)
          const reason = new Error('the user left')
          controller.abort(reason)
          await assert.rejects(waiting, reason)
        },
        { clock },
      )
    }
  })
})

describe('follow', () => {
  it('gives the task as it is, then every change that it sees, and ends with its end', async () => {
    const { client, end } = scriptedClient([
      { body: aTask({ version: 1 }) },
      { body: aTask({ version: 1 }) },
      { body: inFlight },
      { body: inFlight },
      { body: ended },
    ])
    const seen: number[] = []
    const following = async (): Promise<void> => {
      for await (const { version } of client.follow(TASK_ID)) seen.push(version)
    }
    await end(following())
    assert.deepEqual(seen, [1, 2, 9])
  })

  it('looks no further when whoever follows has seen enough', async () => {
    const { client, server, end } = scriptedClient([{ body: inFlight }, { body: ended }])
    const first = async (): Promise<number> => {
      for await (const { version } of client.follow(TASK_ID)) return version
      return 0
    }
    assert.equal(await end(first()), 2)
    assert.equal(server.requests.length, 1)
  })
})
