import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { createRequestIds } from './request-ids.ts'

const MANY = 1_000

describe('ids of requests', () => {
  it('neither come twice nor grow: nobody counts by them what others ask', () => {
    const requestIds = createRequestIds()
    const ids = Array.from({ length: MANY }, () => requestIds.next())
    assert.equal(new Set(ids).size, MANY)
    for (const id of ids) assert.match(id, /^[\da-f]{16}$/)
    const rises = ids.filter((id, index) => index > 0 && id > ids[index - 1]!)
    assert.ok(rises.length > MANY / 4 && rises.length < (3 * MANY) / 4, `${rises.length} are above the one before`)
    const prefixes = new Set(ids.map(id => id.slice(0, 8)))
    assert.ok(prefixes.size > MANY / 2, 'nor has a process one of its own')
  })
})
