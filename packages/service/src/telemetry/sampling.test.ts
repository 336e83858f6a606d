import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { LaneCounters } from '../stores/store.ts'
import { laneKey } from '../task/lane.ts'
import type { LaneView } from '../task/lane-view.ts'
import { Sampling } from './sampling.ts'
import { SeriesBook } from './series/series-book.ts'
import { streaming, toldIn } from './stream/stream.test-kit.ts'

const A = laneKey({ tenant: 'default', destination: 'http://a' })

function countersOf(lane: string, parts: Partial<LaneCounters> = {}): LaneCounters {
  const none = { pending: 0, inFlight: 0, succeeded: 0, exhausted: 0, cancelled: 0, attempts: 0, firstAttempts: 0 }
  return { lane, ...none, ...parts }
}

function lanesOf(tenant: string, count: number): LaneCounters[] {
  return Array.from({ length: count }, (_, n) =>
    countersOf(laneKey({ tenant, destination: `http://${n}` }), { pending: 1 }),
  )
}

function setting(lanes: LaneCounters[]) {
  const { clock, stream, listen } = streaming()
  const series = new SeriesBook({ now: () => clock.now() })
  const views = new Map<string, LaneView>()
  const asked: object[] = []
  const store = { wait: async (): Promise<void> => {} }
  const sampling = new Sampling({
    stream,
    series,
    clock,
    now: () => clock.now(),
    dispatching: { view: lane => views.get(lane) },
    store: {
      async lanes(ask) {
        asked.push(ask)
        await store.wait()
        const own = lanes.filter(({ lane }) => ask.tenant === undefined || lane.startsWith(`${ask.tenant} `))
        const from = Number(ask.cursor ?? 0)
        const more = from + ask.limit < own.length
        return { items: own.slice(from, from + ask.limit), ...(more && { nextCursor: String(from + ask.limit) }) }
      },
    },
  })
  sampling.start()
  const see = (parts: Partial<LaneView> = {}, lane = A): unknown =>
    views.set(lane, {
      lane,
      breaker: 'closed',
      limit: 10,
      inFlight: 0,
      credit: { first: 20, retry: 60, late: 20 },
      ...parts,
    })
  return { clock, stream, listen, series, sampling, see, asked, store }
}

describe('once a second', () => {
  it('tasks behind a closed gate are counted as held, if one of them is due', async () => {
    const { clock, series, see } = setting([countersOf(A, { pending: 40 })])
    const heldThen = async (): Promise<number> => {
      await clock.advance(2_000)
      return series.lastSecond({ tenant: 'default', destination: 'http://a' }).held
    }
    see({ oldestDueAt: clock.now() })
    assert.equal(await heldThen(), 0)
    see({ hold: { reason: 'paused' }, oldestDueAt: clock.now() + 60_000 })
    assert.equal(await heldThen(), 0)
    see({ hold: { reason: 'paused' }, oldestDueAt: clock.now() })
    assert.equal(await heldThen(), 40)
    see({ kindHolds: { late: { reason: 'breaker-open' } }, oldestDueAt: clock.now() })
    assert.equal(await heldThen(), 40)
  })

  it('a gate that opened or shut is told once; what opens and shuts all the time is not', async () => {
    const { clock, listen, see } = setting([countersOf(A, { pending: 1 })])
    const { ear } = listen({ filter: { types: ['destination'] } })
    see({ hold: { reason: 'concurrency' } })
    await clock.advance(2_000)
    const until = clock.now() + 30_000
    see({ breaker: 'open', hold: { reason: 'retry-after', until } })
    await clock.advance(3_000)
    see({ kindHolds: { first: { reason: 'credit', until: 0, everyMs: 1_000 } } })
    await clock.advance(2_000)
    assert.deepEqual(ear.heard.map(toldIn), [
      { destination: 'http://a', breaker: 'open', hold: { reason: 'retry-after', until } },
      { destination: 'http://a', breaker: 'closed' },
    ])
  })

  it('counters are told to those who want them: of their tenant, of their destination, and of nobody else', async () => {
    const { clock, listen } = setting([
      countersOf(A, { pending: 2, succeeded: 5 }),
      countersOf(laneKey({ tenant: 'default', destination: 'http://b' }), { pending: 1 }),
      countersOf(laneKey({ tenant: 'other', destination: 'http://a' }), { pending: 100 }),
    ])
    const ears = [{}, { destination: 'http://b' }, { types: ['counters', 'task'] }, { taskId: 'a' }] as const
    const heard = ears.map(filter => listen({ filter }).ear)
    heard.push(listen({ filter: { types: ['task'] } }).ear)
    await clock.advance(1_100)
    const pending = heard.map(
      ({ heard: [first] }) => (first?.data['tasks'] as { PENDING: number } | undefined)?.PENDING,
    )
    assert.deepEqual(pending, [3, 1, 3, undefined, undefined])
    assert.deepEqual(heard[0]!.heard[0]!.data, {
      at: clock.now() - 100,
      tasks: { PENDING: 3, IN_FLIGHT: 0, SUCCEEDED: 5, EXHAUSTED: 0, CANCELLED: 0 },
      isExact: true,
      lastSecond: { first: 0, retry: 0, succeeded: 0, failed: 0, held: 0 },
    })
  })

  it('no more than a thousand lanes are looked at; the others come in the next seconds', async () => {
    const lanes = lanesOf('default', 1_500)
    const { clock, series, see, asked } = setting(lanes)
    see({ hold: { reason: 'paused' }, oldestDueAt: clock.now() }, lanes[1_400]!.lane)
    await clock.advance(1_200)
    assert.deepEqual([asked.length, series.lastSecond({ tenant: 'default', destination: 'http://1400' }).held], [5, 0])
    await clock.advance(1_900)
    assert.deepEqual([asked.length, series.lastSecond({ tenant: 'default', destination: 'http://1400' }).held], [13, 1])
  })

  it('whoever listens hears of its own lanes in that second, however many others have', async () => {
    const { clock, listen, see } = setting([...lanesOf('another', 5_000), countersOf(A, { pending: 1 })])
    see({ breaker: 'open' })
    const { ear } = listen({ filter: { types: ['destination'] } })
    await clock.advance(1_200)
    assert.deepEqual(ear.heard.map(toldIn), [{ destination: 'http://a', breaker: 'open' }])
  })

  it('a store that is slow is not asked again before it has answered; one that fails is asked in the next second', async () => {
    const { clock, sampling, asked, store } = setting([])
    let answer: (() => void) | undefined
    store.wait = () => new Promise(resolve => (answer = resolve))
    await clock.advance(3_000)
    assert.equal(asked.length, 1)
    store.wait = () => Promise.reject(new Error('the store is away'))
    answer!()
    await clock.advance(2_000)
    assert.equal(asked.length, 3)
    sampling.stop()
    await clock.drain()
  })
})
