import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { deliveryColumns } from './delivery-columns.ts'
import { DELIVERED } from './pictures.test-kit.ts'

describe('tasks and requests in columns', () => {
  it('are the most tasks that waited, and the mean rate of requests, where neighbours are merged', () => {
    const { columnMs, waiting, requests, mostWaiting, peakPerSecond } = deliveryColumns(DELIVERED, 4)
    assert.equal(columnMs, 2_000)
    assert.deepEqual(waiting, [0, 100, 200, 40])
    assert.deepEqual(
      requests.map(({ first, retries }) => [first, retries]),
      [
        [50, 0],
        [0, 30],
        [0, 1],
        [150, 0],
      ],
    )
    assert.deepEqual([mostWaiting, peakPerSecond], [200, 150])
  })

  it('are as long as the longest of the three, for tasks may wait where no request is made', () => {
    const { waiting, requests, endMs } = deliveryColumns(
      { ...DELIVERED, waiting: [1, 2, 3], answered: [], failed: [] },
      9,
    )
    assert.deepEqual([waiting, requests.map(({ total }) => total), endMs], [[1, 2, 3], [0, 0, 0], 3_000])
  })
})
