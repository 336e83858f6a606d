import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { laneKey } from '../../task/lane.ts'
import type { AttemptEnded } from '../events.ts'
import { countCall, newSeries } from './series.ts'
import { SeriesBook, type SeriesBookOptions } from './series-book.ts'

const START = 1_767_225_600_000

function setting(options: Partial<SeriesBookOptions> = {}) {
  let now = START
  const book = new SeriesBook({ now: () => now, ...options })
  const call = (destination: string, tenant = 'default', parts: Partial<AttemptEnded> = {}): void =>
    book.attemptEnded({
      taskId: 'a',
      lane: laneKey({ tenant, destination }),
      policyId: 'default',
      outcome: 'success',
      attemptNumber: 1,
      durationMs: 10,
      latenessMs: 0,
      ownLatenessMs: 0,
      overheadMs: 0,
      ...parts,
    })
  const counted = (destination?: string, tenant = 'default'): [string | undefined, number] => {
    const { destination: whose, slots } = book.read({ tenant, destination, resolution: 'second' })
    return [whose, slots.reduce((sum, { first, retry }) => sum + first + retry, 0)]
  }
  return { book, call, counted, pass: (ms: number) => void (now += ms) }
}

describe('the series of a service', () => {
  it('are kept for each destination, and for all of a tenant together', () => {
    const { call, counted, pass } = setting()
    for (const destination of ['http://a', 'http://a', 'http://b']) call(destination)
    pass(1_000)
    assert.deepEqual(
      [counted('http://a'), counted('http://b'), counted()],
      [
        ['http://a', 2],
        ['http://b', 1],
        [undefined, 3],
      ],
    )
  })

  it('are those of the tenant alone who asks', () => {
    const { call, counted, pass } = setting()
    call('http://a', 'one')
    call('http://a', 'two')
    call('http://b', 'two')
    pass(1_000)
    assert.deepEqual([counted('http://a', 'one')[1], counted(undefined, 'one')[1]], [1, 1])
    assert.deepEqual([counted('http://b', 'one')[1], counted(undefined, 'three')[1]], [0, 0])
  })

  it('say of no destination lately what was sent to others that share a series', () => {
    const { book, call } = setting({ mostPerTenant: 1 })
    call('http://a')
    call('http://b')
    const lately = (destination: string): unknown =>
      book.attemptsWithin(laneKey({ tenant: 'default', destination }), 300_000)
    assert.deepEqual([lately('http://a'), lately('http://b')], [{ first: 1, retry: 0 }, undefined])
  })

  it('begin when the service began, and end with the last slot that is over', () => {
    const { book, call, pass } = setting()
    call('http://a')
    pass(3_500)
    const slots = (range: object) => book.read({ tenant: 'default', resolution: 'second', ...range }).slots
    assert.deepEqual(
      slots({}).map(({ at, first }) => [at - START, first]),
      [
        [0, 1],
        [1_000, 0],
        [2_000, 0],
      ],
    )
    assert.deepEqual(
      slots({ from: START + 1, to: START + 2_000 }).map(({ at }) => at - START),
      [1_000],
    )
    assert.deepEqual([slots({ from: START + 9_000 }), slots({ to: START })], [[], []])
    assert.deepEqual(book.read({ tenant: 'default', resolution: 'minute' }).slots, [])
  })

  it('go back a quarter of an hour by seconds, and a day by minutes', () => {
    const { book, call, pass } = setting()
    call('http://a')
    pass(2 * 86_400_000)
    assert.equal(book.read({ tenant: 'default', resolution: 'second' }).slots.length, 900)
    assert.equal(book.read({ tenant: 'default', resolution: 'minute' }).slots.length, 1_440)
  })

  it('of destinations beyond the most are counted together as other', () => {
    const { call, counted, pass } = setting({ mostPerTenant: 2 })
    for (const name of ['a', 'b', 'c', 'd', 'c']) call(`http://${name}`)
    pass(1_000)
    assert.deepEqual(
      [counted('http://b'), counted('http://c'), counted('other'), counted()],
      [
        ['http://b', 1],
        ['other', 3],
        ['other', 3],
        [undefined, 5],
      ],
    )
  })

  it('are bounded over all tenants, too', () => {
    const { call, counted, pass } = setting({ mostInAll: 1 })
    call('http://a', 'one')
    call('http://a', 'two')
    pass(1_000)
    assert.deepEqual([counted('http://a', 'one')[0], counted('http://a', 'two')[0]], ['http://a', 'other'])
  })

  it('are not taken up by a few tenants: of what is free a tenth is left to who comes', () => {
    const { call, counted, pass } = setting({ mostInAll: 100 })
    const tenants = ['first', 'second', 'third']
    for (const tenant of tenants) for (let at = 0; at < 500; at++) call(`http://d${at}`, tenant)
    pass(1_000)
    const own = (tenant: string): number =>
      Array.from({ length: 500 }, (_, at) => counted(`http://d${at}`, tenant)[0]).filter(name => name !== 'other')
        .length
    assert.deepEqual(tenants.map(own), [90, 9, 1])
  })

  it('of whoever was silent for a day give their places to another tenant', () => {
    const { call, counted, pass } = setting({ mostInAll: 1 })
    call('http://a', 'one')
    pass(86_402_000)
    call('http://a', 'two')
    pass(1_000)
    assert.deepEqual(counted('http://a', 'two'), ['http://a', 1])
  })

  it('give the place of a destination that was silent for a day to another one', () => {
    const { call, counted, pass } = setting({ mostPerTenant: 1 })
    call('http://a')
    pass(86_402_000)
    call('http://b')
    pass(1_000)
    assert.deepEqual(counted('http://b'), ['http://b', 1])
  })

  it('count what is held over all lanes of a tenant', () => {
    const { book, pass } = setting()
    const lane = (destination: string): string => laneKey({ tenant: 'default', destination })
    book.held([
      { lane: lane('http://a'), held: 30 },
      { lane: lane('http://b'), held: 12 },
    ])
    pass(1_000)
    assert.deepEqual(
      [
        book.lastSecond({ tenant: 'default' }).held,
        book.lastSecond({ tenant: 'default', destination: 'http://a' }).held,
      ],
      [42, 30],
    )
  })

  it('have no latency of an attempt that was lost', () => {
    const { book, call, pass } = setting()
    call('http://a', 'default', { outcome: 'ambiguous', errorCode: 'lost', durationMs: 20_000 })
    pass(1_000)
    assert.deepEqual(book.lastSecond({ tenant: 'default', destination: 'http://a' }), {
      first: 1,
      retry: 0,
      succeeded: 0,
      failed: 1,
      held: 0,
    })
  })

  it('remember of each destination the last attempt that failed, and nothing of those without a series', () => {
    const { book, call, pass } = setting({ mostPerTenant: 1 })
    const failed = { outcome: 'transient', responseStatus: 503, errorCode: 'http-503', errorMessage: 'down' } as const
    call('http://a', 'default', { taskId: 'early', ...failed })
    pass(1_000)
    call('http://a', 'default', { taskId: 'late', attemptNumber: 2, ...failed })
    pass(1_000)
    call('http://a')
    call('http://b', 'default', failed)
    const lastOf = (destination: string) => book.lastFailure(laneKey({ tenant: 'default', destination }))
    assert.deepEqual(lastOf('http://a'), { at: START + 1_000, taskId: 'late', attemptNumber: 2, ...failed })
    assert.equal(lastOf('http://b'), undefined)
  })

  it('take 64 KiB for each destination and no more, once a day is full', () => {
    const series = newSeries(START)
    for (let second = 0; second < 86_400; second++)
      countCall(series, { isFirst: true, isSuccess: true, durationMs: second }, START + second * 1_000)
    const { seconds, minutes, ofSecond, ofMinute } = series
    const arrays = [seconds.values!, minutes.values!, ofSecond.latencies, ofMinute.latencies]
    const bytes = arrays.reduce((sum, { byteLength }) => sum + byteLength, 0)
    assert.ok(bytes > 60_000 && bytes < 67_000, String(bytes))
  })
})
