import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { virtualClock } from '@secondwind/resilience/testing'
import { showProgress } from './progress.ts'

function watched(isTerminal: boolean): { told: string[]; run: (steps: number, stepMs: number) => Promise<void> } {
  const told: string[] = []
  const clock = virtualClock()
  const progress = showProgress(
    { tell: text => void told.push(text), err: { isTerminal, columns: 80, hasColors: false, isAscii: true } },
    { label: 'seeds', total: 10, clock },
  )
  return {
    told,
    run: async (steps, stepMs) => {
      for (let step = 0; step < steps; step++) {
        await clock.advance(stepMs)
        progress.advance(1)
      }
      progress.end()
    },
  }
}

describe('progress', () => {
  it('redraws one line on a terminal, ten times a second at most, and takes it away in the end', async () => {
    const { told, run } = watched(true)
    await run(10, 50)
    assert.equal(told.length, 6)
    assert.equal(told[0], '\r\u001B[Kseeds  #####...................  2/10   about 1 s left')
    assert.equal(told.at(-1), '\r\u001B[K')
  })

  it('says a line every half minute elsewhere, and redraws nothing', async () => {
    const { told, run } = watched(false)
    await run(10, 10_000)
    assert.deepEqual(
      told.map(line => /\d+\/10/.exec(line)?.[0]),
      ['3/10', '6/10', '9/10'],
    )
    assert.ok(told.every(line => !line.includes('\r')))
  })

  it('says nothing about what is quick', async () => {
    const { told, run } = watched(true)
    await run(10, 1)
    assert.deepEqual(told, [])
  })
})
