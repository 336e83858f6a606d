import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { virtualClock } from '@secondwind/resilience/testing'
import { showProgress, type Progress } from './progress.ts'
import type { Screen } from './terminal.ts'

const SCREEN: Screen = { isTerminal: true, columns: 80, rows: 24, hasColors: false, isAscii: false }
const PAPER: Screen = { ...SCREEN, isTerminal: false }

interface Watched {
  readonly told: string[]
  readonly progress: Progress
  readonly run: (steps: number, stepMs: number) => Promise<void>
  readonly wait: (ms: number) => Promise<void>
  readonly interrupt: () => void
}

function watched(err: Screen): Watched {
  const told: string[] = []
  const tidies = new Set<() => void>()
  const clock = virtualClock()
  const onInterrupt = (tidy: () => void): (() => void) => {
    tidies.add(tidy)
    return () => tidies.delete(tidy)
  }
  const terminal = { tell: (text: string) => void told.push(text), err, onInterrupt }
  const progress = showProgress(terminal, { label: 'seeds', total: 10, clock })
  return {
    told,
    progress,
    run: async (steps, stepMs) => {
      for (let step = 0; step < steps; step++) {
        await clock.advance(stepMs)
        progress.advance(1)
      }
      progress.end()
    },
    wait: ms => clock.advance(ms),
    interrupt: () => {
      for (const tidy of tidies) tidy()
    },
  }
}

describe('progress', () => {
  it('redraws one line on a terminal, ten times a second at most, and takes it away in the end', async () => {
    const { told, run } = watched(SCREEN)
    await run(10, 50)
    assert.equal(told.length, 6)
    assert.equal(told[1], '\r\u001B[Kseeds  ███████░░░░░░░░░░░░░░░░░  3/10   about 1 s left')
    assert.equal(told.at(-1), '\r\u001B[K')
  })

  it('gives a line of its own the place of the bar, and goes on below it', async () => {
    const { told, wait, progress } = watched(SCREEN)
    await wait(100)
    progress.say('no answer')
    await wait(100)
    progress.end()
    assert.deepEqual([told[1], told[2]], ['\r\u001B[Kno answer\n', told[0]])
    const paper = watched(PAPER)
    paper.progress.say('no answer')
    paper.progress.end()
    assert.deepEqual(paper.told, ['no answer\n'])
  })

  it('never goes on in a second line, which could not be taken back', async () => {
    const { told, wait, progress } = watched({ ...SCREEN, columns: 40 })
    await wait(1_000)
    progress.end()
    assert.equal(told[0], '\r\u001B[Kseeds  ░░░░░░░░░░░░░░░░░░░░░░░░  0/10  ')
  })

  it('says what is left in minutes where it is many', async () => {
    const { told, wait, progress } = watched(SCREEN)
    progress.advance(1)
    await wait(60_000)
    progress.end()
    assert.match(told.at(-2)!, /1\/10 {3}about 9 min left$/)
  })

  it('shows that a single long thing goes on', async () => {
    const { told, wait, progress } = watched(SCREEN)
    await wait(3_000)
    progress.end()
    assert.deepEqual(
      told.map(line => /\d+ s so far/.exec(line)?.[0]),
      ['0 s so far', '1 s so far', '2 s so far', '3 s so far', undefined],
    )
  })

  it('says a line after a second and then every half minute elsewhere, and redraws nothing', async () => {
    const { told, run } = watched(PAPER)
    await run(10, 10_000)
    assert.deepEqual(
      told.map(line => /\d+\/10/.exec(line)?.[0]),
      ['0/10', '3/10', '6/10', '9/10'],
    )
    assert.ok(told.every(line => !line.includes('\r')))
  })

  it('redraws nothing where a terminal knows nothing but characters', async () => {
    const { told, run } = watched({ ...SCREEN, isAscii: true })
    await run(10, 10_000)
    assert.equal(told[0], 'seeds  ........................  0/10   1 s so far\n')
    assert.ok(told.every(line => !line.includes('\r')))
  })

  it('leaves a line of its own to whatever follows an interrupt', async () => {
    const { told, wait, interrupt, progress } = watched(SCREEN)
    await wait(500)
    interrupt()
    assert.equal(told.at(-1), '\n')
    progress.end()
    const before = told.length
    interrupt()
    assert.equal(told.length, before)
  })

  it('says what else there is to say at the end of its line', async () => {
    const told: string[] = []
    const clock = virtualClock()
    const terminal = { tell: (text: string) => void told.push(text), err: PAPER }
    const progress = showProgress(terminal, { label: 'replay', total: 10, note: () => 'failed 3', clock })
    await clock.advance(1_000)
    progress.end()
    assert.equal(told[0], 'replay  ░░░░░░░░░░░░░░░░░░░░░░░░  0/10   1 s so far   failed 3\n')
  })

  it('has no bar where nobody knows how much there is, and what is left from whoever knows better', async () => {
    const told: string[] = []
    const clock = virtualClock()
    const terminal = { tell: (text: string) => void told.push(text), err: PAPER }
    const counting = showProgress(terminal, { label: 'counting', clock })
    await clock.advance(1_000)
    counting.end()
    const known = showProgress(terminal, { label: 'replay', total: 10, leftMs: () => 42_000, clock })
    known.advance(5)
    await clock.advance(1_000)
    known.end()
    assert.deepEqual(told, ['counting   1 s so far\n', 'replay  ████████████░░░░░░░░░░░░  5/10   about 42 s left\n'])
  })

  it('says nothing about what is quick', async () => {
    const { told, run } = watched(SCREEN)
    await run(10, 1)
    assert.deepEqual(told, [])
  })
})
