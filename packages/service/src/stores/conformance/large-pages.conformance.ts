import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { ClaimedTask } from '../../task/task.ts'
import { MOST_PAGE_BYTES } from '../page-bytes.ts'
import type { Page, PageAsk, TaskStore } from '../task-store.ts'
import { sit, type OpenStore } from './exam.test-kit.ts'
import { retryAt, TENANT } from './tasks.test-kit.ts'

/** Two of them fit into a page, with what is around them. */
const NEARLY_HALF = Math.floor(MOST_PAGE_BYTES * 0.49)

export function examineLargePages(open: OpenStore): void {
  describe('a page of what is large', () => {
    it('has as many tasks as fit, and leads on to the others', async () => {
      const { store, addMany, build, all } = await sit(open)
      const { request } = build()
      const headers = { 'x-large': 'h'.repeat(NEARLY_HALF / 2) }
      const body = new Uint8Array(NEARLY_HALF / 2)
      const added = await addMany(5, { request: { ...request, headers, body } })
      const list = (page: PageAsk) => store.list({ ...page, filter: { tenant: TENANT } })
      assert.deepEqual(await sizesOf(list), [2, 2, 1])
      assert.deepEqual(
        (await all(list, 200)).map(({ taskId }) => taskId),
        added.map(({ taskId }) => taskId).toReversed(),
      )
    })

    it('has as many attempts as fit, by what was answered to them', async () => {
      const { store, add, claimOne, settle, all, clock } = await sit(open)
      const { taskId } = await add()
      const settleOne = (task: ClaimedTask) => settle(answeredLarge(task, clock.now()))
      await settleOne(await claimOne())
      for (let n = 2; n <= 5; n++) await settleOne(await claimOne({ queue: 'normal retry default' }))
      const attempts = (page: PageAsk) => store.attempts({ ...page, taskId })
      assert.deepEqual(await sizesOf(attempts), [2, 2, 1])
      assert.deepEqual(
        (await all(attempts, 200)).map(({ attemptNumber }) => attemptNumber),
        [1, 2, 3, 4, 5],
      )
    })

    it('has one, however large, and ends behind the last', async () => {
      const { store, addMany, build } = await sit(open)
      const { request } = build()
      await addMany(2, { request: { ...request, body: new Uint8Array(MOST_PAGE_BYTES + 1) } })
      assert.deepEqual(await sizesOf(page => store.list({ ...page, filter: { tenant: TENANT } })), [1, 1])
    })
  })
}

function answeredLarge(task: ClaimedTask, now: number): Parameters<TaskStore['settle']>[0][number] {
  const settlement = retryAt(task, now)
  // A quote is two characters in an answer.
  const response = { headers: {}, body: '"'.repeat(NEARLY_HALF / 2), bodyEncoding: 'utf8', truncated: false } as const
  return { ...settlement, attempt: { ...settlement.attempt!, response } }
}

/** Of pages, asked for with the largest limit there is, from the first to the last. */
async function sizesOf(read: (page: PageAsk) => Promise<Page<unknown>>): Promise<number[]> {
  const sizes: number[] = []
  for (let cursor: string | undefined; sizes.length < 10;) {
    const { items, nextCursor } = await read({ limit: 200, ...(cursor !== undefined && { cursor }) })
    sizes.push(items.length)
    if (nextCursor === undefined) break
    cursor = nextCursor
  }
  return sizes
}
