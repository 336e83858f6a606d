import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { sit, type OpenStore } from './exam.test-kit.ts'
import { giveUp, REPLAYED, replayOf, RETRIES, retryAt, succeed } from './tasks.test-kit.ts'

export function examineAttempts(open: OpenStore): void {
  describe('the attempts of a task', () => {
    it('are listed in the order in which they were made, in pages of any size', async () => {
      const { store, add, claimOne, settle, all, clock } = await sit(open)
      const { taskId } = await add()
      await settle(retryAt(await claimOne(), clock.now()))
      for (let n = 2; n <= 5; n++) await settle(retryAt(await claimOne({ queue: RETRIES }), clock.now()))
      for (const limit of [1, 2, 5, 6]) {
        const rows = await all(page => store.attempts({ ...page, taskId }), limit)
        assert.deepEqual(
          rows.map(({ attemptNumber }) => attemptNumber),
          [1, 2, 3, 4, 5],
        )
      }
    })

    it('go on where a page ended, whatever attempts were made meanwhile', async () => {
      const { store, ended, claimOne, settle, replay, all, firstPage, clock } = await sit(open)
      const dead = await ended(giveUp)
      const { taskId } = dead
      await replay(replayOf(dead, clock.now()))
      await settle(retryAt(await claimOne({ queue: REPLAYED }), clock.now()))
      const { items, nextCursor } = await firstPage(page => store.attempts({ ...page, taskId }), 1)
      await settle(succeed(await claimOne({ queue: 'low retry default' })))
      const rest = await all(page => store.attempts({ taskId, cursor: nextCursor, ...page }))
      assert.deepEqual(
        [...items, ...rest].map(({ generation, attemptNumber }) => [generation, attemptNumber]),
        [
          [1, 1],
          [2, 1],
          [2, 2],
        ],
      )
    })

    it('are its own: another task has others, and an unknown one has none', async () => {
      const { store, add, ended, all } = await sit(open)
      await ended(giveUp)
      for (const taskId of [(await add()).taskId, 'unheard-of'])
        assert.deepEqual(await all(page => store.attempts({ ...page, taskId })), [])
    })
  })
}
