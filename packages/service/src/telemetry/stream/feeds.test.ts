import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { Feeds } from './feeds.ts'
import type { StreamEvent } from './stream-event.ts'

const EVENT: StreamEvent = { type: 'task', at: 1, data: {} }

describe('a feed', () => {
  it('counts what happens before anybody has listened, and keeps what happens after that', () => {
    const feeds = new Feeds('a', { events: 10, bytes: 10_000 })
    const feed = feeds.of('tenant')
    for (let n = 0; n < 3; n++) feeds.append(feed, EVENT)
    assert.deepEqual([feed.newest, feed.forgotten], [3, 3])
    feed.isHeard = true
    for (let n = 0; n < 2; n++) feeds.append(feed, EVENT)
    assert.deepEqual([feed.newest, feed.forgotten, feed.eventAt(4)], [5, 3, EVENT])
  })
})
