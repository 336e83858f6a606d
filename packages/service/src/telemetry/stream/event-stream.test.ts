import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import type { Listen } from './event-stream.ts'
import { Ear, numbered, streaming, tellChange } from './stream.test-kit.ts'

describe('a listener', () => {
  it('hears what happens from then on, within a tenth of a second, without the name of its tenant', async () => {
    const { clock, listen, change, stream } = streaming()
    change('before')
    const { ear } = listen()
    tellChange(stream, { status: 'EXHAUSTED', reason: 'attempts', errorCode: 'http-503' })
    await clock.advance(100)
    assert.deepEqual(ear.heard, [
      {
        type: 'task',
        id: '5f0c7a1b-2',
        data: {
          at: clock.now() - 100,
          taskId: 'a',
          destination: 'https://api.example',
          status: 'EXHAUSTED',
          attemptNumber: 1,
          reason: 'attempts',
          errorCode: 'http-503',
        },
      },
    ])
  })

  it('hears of one destination, one task or some types, if that is what it asked for', async () => {
    const { clock, listen, stream } = streaming()
    const ears = [
      listen({ filter: { destination: 'http://a' } }),
      listen({ filter: { taskId: 'two' } }),
      listen({ filter: { types: ['control'] } }),
    ]
    tellChange(stream, { taskId: 'one', destination: 'http://a' })
    tellChange(stream, { taskId: 'two', destination: 'http://b' })
    stream.tell({ tenant: 'default', type: 'destination', destination: 'http://b', data: { breaker: 'open' } })
    stream.tell({ tenant: 'default', type: 'control', data: { level: 'dispatch-off' } })
    await clock.advance(100)
    assert.deepEqual(
      ears.map(({ ear }) => ear.heard.map(({ type, data }) => data['taskId'] ?? type)),
      [['one', 'control'], ['two'], ['control']],
    )
  })

  it('hears of its own tenant and no other, nor how much others do; what is for everybody it hears too', async () => {
    const { clock, listen, stream } = streaming()
    const [one, two] = [listen({ tenant: 'one' }), listen({ tenant: 'two' })]
    for (let n = 0; n < 50; n++) tellChange(stream, { tenant: 'one' })
    tellChange(stream, { tenant: 'two', taskId: 'b' })
    stream.tell({ type: 'control', data: { level: 'intake-off' } })
    await clock.advance(100)
    assert.equal(one.ear.heard.length, 51)
    assert.deepEqual(
      two.ear.heard.map(({ id, type }) => `${id} ${type}`),
      ['5f0c7a1b-1 task', '5f0c7a1b-2 control'],
    )
  })

  it('shares its bytes with all who want to hear the same', async () => {
    const { clock, listen, change } = streaming()
    const [one, two] = [listen().ear, listen().ear]
    change('a', 'b')
    await clock.advance(100)
    assert.equal(one.chunks.at(-1), two.chunks.at(-1))
    assert.deepEqual(one.taskIds, ['a', 'b'])
  })

  it('is sent a comment when it has heard nothing for 15 s, with an id that is up to date', async () => {
    const { clock, listen, change } = streaming()
    const { ear } = listen({ filter: { taskId: 'mine' } })
    change('other')
    await clock.advance(14_900)
    assert.equal(ear.text, ': listening\nid: 5f0c7a1b-0\n\n')
    await clock.advance(200)
    assert.match(ear.text, /: still here\nid: 5f0c7a1b-1\n\n$/)
  })

  it('is no longer sent anything once it has left, and with the last one all alarms are gone', async () => {
    const { clock, listen, change } = streaming()
    const [{ ear, leave }, other] = [listen(), listen()]
    leave!()
    leave!()
    change('a')
    await clock.advance(100)
    assert.deepEqual([ear.heard.length, other.ear.heard.length], [0, 1])
    other.leave!()
    await clock.drain()
  })

  it('is ended within seconds when it may no longer listen, or when nobody can say so', async () => {
    const { clock, listen } = streaming()
    let isAllowed = true
    const { ear } = listen({ isStillAllowed: async () => isAllowed })
    await clock.advance(20_000)
    assert.equal(ear.isEnded, false)
    isAllowed = false
    const doubted = listen({ isStillAllowed: () => Promise.reject(new Error('the store is away')) })
    await clock.advance(5_200)
    assert.deepEqual([ear.isEnded, doubted.ear.isEnded], [true, true])
  })

  it('is refused where its tenant has as many as it leaves to others: there is room for the next, and for operators', () => {
    const { listen } = streaming({ listeners: 17 })
    const fill = (who: Partial<Listen>): (() => void)[] => {
      const all: (() => void)[] = []
      for (let { leave } = listen(who); leave !== undefined; { leave } = listen(who)) all.push(leave)
      return all
    }
    const [first, ...others] = ['one', 'two', 'three', 'four', 'five'].map(tenant => fill({ tenant }))
    assert.deepEqual([first!.length, ...others.map(({ length }) => length)], [8, 4, 2, 1, 1])
    assert.equal(fill({ tenant: 'six' }).length, 0)
    assert.equal(fill({ isOperator: true }).length, 1)
    for (const leave of first!.slice(0, 5)) leave()
    assert.ok(listen({ tenant: 'six' }).leave)
  })

  it('hears the last news when the service stops, and is ended; nobody comes after', async () => {
    const { listen, change, stream, clock } = streaming()
    const { ear, leave } = listen()
    change('last')
    stream.close()
    assert.deepEqual([ear.taskIds, ear.isEnded], [['last'], true])
    assert.equal(listen().leave, undefined)
    leave!()
    await clock.drain()
  })
})

describe('a listener that comes back', () => {
  it('hears everything after the id that it names, and nothing twice', async () => {
    const { clock, listen, change } = streaming()
    const first = listen()
    change('a', 'b')
    await clock.advance(100)
    first.leave!()
    change('c')
    const second = listen({ since: first.ear.lastId })
    change('d')
    await clock.advance(100)
    assert.deepEqual([...first.ear.taskIds, ...second.ear.taskIds], ['a', 'b', 'c', 'd'])
  })

  it('has an id to come back with before it has heard anything', async () => {
    const { clock, listen, change } = streaming()
    const first = listen()
    first.leave!()
    change('a')
    const second = listen({ since: first.ear.lastId })
    await clock.advance(100)
    assert.deepEqual(second.ear.taskIds, ['a'])
  })

  it('is told that something is missing when that is no longer kept', async () => {
    const { clock, listen, change } = streaming({ events: 3 })
    const first = listen()
    first.leave!()
    change(...numbered(5))
    const { ear } = listen({ since: first.ear.lastId })
    await clock.advance(100)
    assert.deepEqual(
      ear.heard.map(({ type, data }) => (type === 'gap' ? data : data['taskId'])),
      [{ because: 'too-old', missed: 2 }, 't2', 't3', 't4'],
    )
  })

  it('is told so when another process gave the id, or nobody', async () => {
    const { clock, listen, change } = streaming()
    change('a')
    for (const since of ['00000000-1', '5f0c7a1b-9', 'x', '5f0c7a1b--1']) {
      const { ear } = listen({ since })
      await clock.advance(100)
      assert.deepEqual(
        ear.heard.map(({ type, id, data }) => [type, id, data]),
        [['gap', '5f0c7a1b-1', { because: 'restart' }]],
      )
    }
  })

  it('catches up with the others, and then hears with them', async () => {
    const { clock, listen, change } = streaming()
    const { ear: other } = listen()
    change(...numbered(1_000))
    const { ear } = listen({ since: '5f0c7a1b-0' })
    for (let turn = 0; turn < 20; turn++) await clock.advance(100)
    change('last')
    await clock.advance(100)
    assert.deepEqual(ear.taskIds, [...numbered(1_000), 'last'])
    assert.equal(ear.chunks.at(-1), other.chunks.at(-1))
  })

  it('loses nothing and hears nothing twice, whenever its connection breaks, as long as all is kept', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ count: fc.nat(9), breaks: fc.boolean() }), { maxLength: 30 }),
        async steps => {
          const { clock, listen, change } = streaming()
          const ears: Ear[] = []
          let listening = listen()
          let made = 0
          for (const { count, breaks } of steps) {
            change(...numbered(count, made))
            made += count
            if (breaks) {
              listening.leave!()
              ears.push(listening.ear)
              listening = listen({ since: listening.ear.lastId })
            } else await clock.advance(100)
          }
          await clock.advance(100)
          assert.deepEqual(
            [...ears, listening.ear].flatMap(({ taskIds }) => taskIds),
            numbered(made),
          )
          listening.leave!()
        },
      ),
      { numRuns: 50 },
    )
  })
})

describe('a slow listener', () => {
  it('is given nothing more while it takes nothing, and reads on from where it was', async () => {
    const { clock, listen, change } = streaming()
    const { ear } = listen()
    const { ear: quick } = listen()
    ear.isFull = true
    change('a')
    await clock.advance(100)
    change('b')
    await clock.advance(5_000)
    assert.deepEqual([ear.taskIds, quick.taskIds], [[], ['a', 'b']])
    ear.isFull = false
    await clock.advance(100)
    assert.deepEqual(ear.taskIds, ['a', 'b'])
  })

  it('is cut off when it takes nothing for ten seconds', async () => {
    const { clock, listen } = streaming()
    const { ear } = listen()
    ear.isFull = true
    await clock.advance(9_000)
    assert.equal(ear.isCut, false)
    await clock.advance(1_200)
    assert.equal(ear.isCut, true)
  })
})

describe('more than anybody can read', () => {
  it('is left out, counted, and said; what is new comes at once', async () => {
    const { clock, listen, change } = streaming({ events: 20_000, bytes: 20_000_000 })
    const { ear } = listen()
    change(...numbered(15_000))
    await clock.advance(100)
    const gap = ear.heard.at(-1)!
    assert.deepEqual([gap.type, gap.data['because']], ['gap', 'too-many'])
    assert.equal(ear.taskIds.length + Number(gap.data['missed']), 15_000)
    change('news')
    await clock.advance(100)
    assert.equal(ear.taskIds.at(-1), 'news')
  })

  it('does not concern those who listen for something else', async () => {
    const { clock, listen, change } = streaming({ events: 20_000, bytes: 20_000_000 })
    const { ear } = listen({ filter: { taskId: 't14999' } })
    change(...numbered(15_000))
    await clock.advance(100)
    assert.deepEqual(
      ear.heard.map(({ data }) => data['taskId']),
      ['t14999'],
    )
  })

  it('comes in turns of at most 64 KiB each', async () => {
    const { clock, listen, change } = streaming()
    const { ear } = listen()
    change(...numbered(2_000))
    for (let turn = 0; turn < 10; turn++) await clock.advance(100)
    assert.equal(ear.taskIds.length, 2_000)
    assert.ok(Math.max(...ear.chunks.map(({ length }) => length)) < 66_000)
  })

  it('is shared out: however many listen, no more than 200 writes and 1 MiB go out in a second', async () => {
    const { clock, listen, change } = streaming({ events: 20_000, bytes: 20_000_000 })
    const ears = Array.from({ length: 200 }, () => listen().ear)
    const sent = (): [writes: number, bytes: number] => [
      ears.reduce((sum, { chunks }) => sum + chunks.length, 0),
      ears.reduce((sum, { text }) => sum + text.length, 0),
    ]
    const [writesBefore, bytesBefore] = sent()
    for (let part = 0; part < 20; part++) {
      change(...numbered(500))
      await clock.advance(100)
    }
    const [writes, bytes] = sent()
    assert.ok(writes - writesBefore <= 400, String(writes - writesBefore))
    assert.ok(bytes - bytesBefore <= 2.2 * 1_048_576, String(bytes - bytesBefore))
    assert.ok(ears[0]!.heard.some(({ type }) => type === 'gap'))
  })

  it('is kept up to so many events and bytes, whoever they are of', async () => {
    const byNumber = streaming({ events: 10 })
    const byBytes = streaming({ bytes: 6_500 })
    for (const { clock, listen, stream } of [byNumber, byBytes]) {
      for (const tenant of ['one', 'two']) listen({ tenant }).leave?.()
      for (let n = 0; n < 100; n++) tellChange(stream, { tenant: n % 2 === 0 ? 'one' : 'two' })
      const { ear } = listen({ tenant: 'two', since: '5f0c7a1b-0' })
      await clock.advance(100)
      const [gap, ...kept] = ear.heard
      assert.equal(kept.length, 5)
      assert.equal(gap!.data['missed'], 45)
    }
  })
})
