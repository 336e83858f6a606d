import assert from 'node:assert/strict'
import { createClient, type TaskEvent } from '@secondwind/client'
import { systemClock } from '@secondwind/resilience'
import { describe, it, vi } from 'vitest'
import { aService } from './service.test-kit.ts'

// A real service in real time.
vi.setConfig({ testTimeout: 60_000 })

const POLICY = { maxAttempts: 8, initialDelayMs: 20, maxDelayMs: 50 } as const

describe('events', () => {
  it('tell the story of a task from its beginning to its end, and can be gone on with', async () => {
    const { url } = await aService()
    const targetUrl = `${url}/_flaky/503x1`
    const client = createClient({ url })
    const story: TaskEvent[] = []
    const log = (text: string): void => void text
    let lastId = ''

    const watch = async (since?: string): Promise<void> => {
      // #region watch
      for await (const event of client.events({ types: ['task', 'counters'], ...(since && { since }) })) {
        if (event.type === 'gap') log(`something is missing: ${event.because}`) // read again what must be right
        if (event.type === 'counters') log(`${event.tasks.PENDING} tasks wait`)
        if (event.type !== 'task') continue
        story.push(event)
        lastId = event.eventId // where to go on after a restart of this program
        if (event.status === 'SUCCEEDED') break
      }
      // #endregion
    }

    const watching = watch()
    const first = await firstEvent(client)
    await client.tasks.enqueue({ targetUrl, policy: POLICY })
    await watching
    assert.deepEqual(
      story.map(({ status, attemptNumber, responseStatus }) => [status, attemptNumber, responseStatus]),
      [
        ['PENDING', 0, undefined],
        ['IN_FLIGHT', 0, undefined],
        ['PENDING', 1, 503],
        ['IN_FLIGHT', 1, undefined],
        ['SUCCEEDED', 2, 200],
      ],
    )
    assert.ok(first.tasks.PENDING === 0 && first.isExact)

    await client.tasks.enqueue({ targetUrl, policy: POLICY })
    await watch(lastId)
    assert.deepEqual(
      story.slice(5).map(({ status }) => status),
      ['PENDING', 'IN_FLIGHT', 'PENDING', 'IN_FLIGHT', 'SUCCEEDED'],
    )

    const retriesSoFar = async (): Promise<number> => {
      // #region series
      const { slots } = await client.series({ destination: url, resolution: 'second' })
      const retried = slots.reduce((sum, { retry }) => sum + retry, 0)
      // #endregion
      return retried
    }
    // A second is shown when it is over.
    while ((await retriesSoFar()) < 2) await systemClock.sleep(100)
    assert.equal(await retriesSoFar(), 2)
  })
})

/** The first counters: by then whoever listened before them does. */
async function firstEvent(client: ReturnType<typeof createClient>) {
  for await (const event of client.events({ types: ['counters'] })) if (event.type === 'counters') return event
  throw new Error('the stream ended')
}
