import { virtualClock } from '@secondwind/resilience/testing'
import assert from 'node:assert/strict'
import { describe, it, onTestFinished } from 'vitest'
import { openTemporarySqliteStore } from '../sqlite.test-kit.ts'
import { createLine } from './line.ts'

describe('a line', () => {
  it('has so many under way, begins the others in their order, and goes on after one that fails', async () => {
    const line = createLine(2)
    const begun: string[] = []
    const ends: (() => void)[] = []
    const work = (name: string): Promise<string> =>
      line(async () => {
        begun.push(name)
        await new Promise<void>(resolve => ends.push(resolve))
        if (name === 'second') throw new Error(name)
        return name
      })
    const all = Promise.allSettled(['first', 'second', 'third', 'fourth'].map(work))
    for (const expected of ['first second', 'first second third', 'first second third fourth']) {
      while (begun.length < expected.split(' ').length) await Promise.resolve()
      assert.equal(begun.join(' '), expected)
      ends.shift()!()
    }
    for (const end of ends) end()
    assert.deepEqual(
      (await all).map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
    )
    ends.length = 0
    const last = work('last')
    while (ends.length === 0) await Promise.resolve()
    ends[0]!()
    assert.equal(await last, 'last')
  })
})

describe('a SQLite store that is asked for many lists', () => {
  it('reads orders after two of them, however many wait', async () => {
    const { store } = await openTemporarySqliteStore({ clock: virtualClock() })
    onTestFinished(() => store.close())
    let listed = 0
    const lists = Array.from({ length: 50 }, async () => {
      await store.list({ filter: {}, limit: 1 })
      listed++
    })
    await store.records({ kind: 'control', limit: 10 })
    assert.ok(listed <= 2, `${listed} lists were read before`)
    await Promise.all(lists)
  })
})
