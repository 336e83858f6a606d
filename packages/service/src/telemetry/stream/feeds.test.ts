import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { Feeds } from './feeds.ts'
import type { StreamEvent } from './stream-event.ts'

const EVENT: StreamEvent = { type: 'task', at: 1, data: {} }

describe('a feed', () => {
  it('counts what happens before anybody has listened, and keeps what happens after that', () => {
    const feeds = new Feeds('a', { events: 10, bytes: 10_000 })
    const feed = feeds.of('tenant')
    for (let n = 0; n < 3; n++) feeds.append(feed, () => EVENT)
    assert.deepEqual([feed.newest, feed.forgotten], [3, 3])
    feeds.hear(feed)
    for (let n = 0; n < 2; n++) feeds.append(feed, () => EVENT)
    assert.deepEqual([feed.newest, feed.forgotten, feed.eventAt(4)], [5, 3, EVENT])
  })

  it('keeps its share however much happens elsewhere, and more as long as nobody else needs it', () => {
    const feeds = new Feeds('a', { events: 10, bytes: 10_000 })
    const [quiet, loud] = [feeds.of('quiet'), feeds.of('loud')]
    for (const feed of [quiet, loud]) feeds.hear(feed)
    for (let n = 0; n < 8; n++) feeds.append(quiet, () => EVENT)
    assert.equal(quiet.events, 8)
    for (let n = 0; n < 1_000; n++) feeds.append(loud, () => EVENT)
    assert.deepEqual([quiet.events, loud.events, quiet.forgotten], [5, 5, 3])
  })
})

describe('all feeds', () => {
  it('stay within their limits, and none has less than its share while another has more', () => {
    const anyEvents = fc.array(fc.record({ tenant: fc.nat(4), size: fc.nat(200) }), { maxLength: 300 })
    fc.assert(
      fc.property(
        anyEvents,
        fc.integer({ min: 5, max: 40 }),
        fc.integer({ min: 500, max: 5_000 }),
        (told, events, bytes) => {
          const feeds = new Feeds('a', { events, bytes })
          const all = Array.from({ length: 5 }, (_, tenant) => feeds.of(String(tenant)))
          for (const feed of all) feeds.hear(feed)
          for (const { tenant, size } of told) {
            const before = all.map(feed => [feed.events, feed.bytes] as const)
            feeds.append(all[tenant]!, () => ({ type: 'task', at: 1, data: { text: 'x'.repeat(size) } }))
            assert.ok(all.reduce((sum, feed) => sum + feed.events, 0) <= events)
            assert.ok(all.reduce((sum, feed) => sum + feed.bytes, 0) <= bytes)
            for (const [at, feed] of all.entries()) {
              const [eventsBefore, bytesBefore] = before[at]!
              if (at === tenant || feed.events === eventsBefore) continue
              assert.ok(
                eventsBefore > events / 5 || bytesBefore > bytes / 5,
                'only who has more than its share gives way',
              )
            }
          }
        },
      ),
    )
  })
})
