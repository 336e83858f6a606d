import { nextTurn } from '@secondwind/resilience'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { ListLines } from './list-lines.ts'

/** Lists of several readers, by name, in the order in which they began. */
function readers() {
  const lines = new ListLines()
  const begun: string[] = []
  const ask = (reader: string, name: string): (() => void) => {
    const begin = (): void => void begun.push(name)
    if (lines.begins(reader, begin)) begin()
    return begin
  }
  const askMany = (reader: string, count: number): (() => void)[] =>
    Array.from({ length: count }, (_, n) => ask(reader, `${reader} ${n + 1}`))
  return { lines, begun, askMany }
}

const turn = (): Promise<void> => new Promise(nextTurn)

describe('the lists of one reader', () => {
  it('are four at once; the others begin one by one as these end, whoever came first', async () => {
    const { lines, begun, askMany } = readers()
    askMany('a', 7)
    assert.deepEqual(begun.splice(0), ['a 1', 'a 2', 'a 3', 'a 4'])
    for (const next of [['a 5'], ['a 6'], ['a 7'], [], [], [], []]) {
      lines.end('a')
      await turn()
      assert.deepEqual(begun.splice(0), next)
    }
    askMany('a', 1)
    assert.deepEqual(begun, ['a 1'])
  })

  it('keep nobody else waiting', () => {
    const { begun, askMany } = readers()
    askMany('a', 100)
    askMany('b', 1)
    assert.equal(begun.at(-1), 'b 1')
  })

  it('do not begin when they were left before', async () => {
    const { lines, begun, askMany } = readers()
    const asked = askMany('a', 6)
    const left = [asked[4]!, asked[4]!, asked[0]!].map(begin => lines.leave('a', begin))
    assert.deepEqual(left, [true, false, false], 'once, and not when it has begun')
    lines.end('a')
    await turn()
    assert.deepEqual(begun.splice(4), ['a 6'])
  })

  it('begin in turns of their own: thousands that are answered at once do not lie on one stack', async () => {
    const { lines, askMany } = readers()
    askMany('a', 4)
    let left = 20_000
    const answered = new Promise<void>(resolve => {
      const answerAtOnce = (): void => {
        if (--left === 0) resolve()
        lines.end('a')
      }
      for (let asked = 0; asked < 20_000; asked++) lines.begins('a', () => answerAtOnce())
    })
    lines.end('a')
    await answered
    assert.equal(left, 0)
  })
})
