import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { progressLine, ProgressReader, sayProgress, StepLine } from './progress.ts'

const FIRST = { done: 0, total: 473, running: ['retry/run.test.ts'] }
const LATER = { done: 12, total: 473, running: ['retry/run.test.ts', 'fetch/run.test.ts', 'hedge/run.test.ts'] }

describe('the progress of a step', () => {
  it('is the newest that was printed, and is taken out of the output', () => {
    const reader = new ProgressReader()
    const output = `one\n${progressLine(FIRST)}\ntwo\n${progressLine(LATER)}\nthree`
    const others =
      output
        .split('')
        .map(letter => reader.take(letter))
        .join('') + reader.end()
    assert.equal(others, 'one\ntwo\nthree\n')
    assert.deepEqual(reader.newest, LATER)
  })

  it('is none where nothing was printed of it', () => {
    const reader = new ProgressReader()
    assert.equal(reader.take('12 passed, 0 failed\n') + reader.end(), '12 passed, 0 failed\n')
    assert.equal(reader.newest, undefined)
  })

  it('names the files that run as far as there is room, and counts the others', () => {
    assert.equal(
      sayProgress(LATER, 200),
      '12/473 files, running retry/run.test.ts, fetch/run.test.ts, hedge/run.test.ts',
    )
    assert.equal(sayProgress(LATER, 75), '12/473 files, running retry/run.test.ts, fetch/run.test.ts and 1 more')
    assert.equal(sayProgress(LATER, 50), '12/473 files, running retry/run.test.ts and 2 more')
    assert.equal(sayProgress(LATER, 30), '12/473 files, running retry/ru')
    assert.equal(sayProgress({ ...LATER, running: [] }, 80), '12/473 files')
  })
})

describe('the line of a step', () => {
  const written = (isTerminal: boolean, use: (line: StepLine) => void): string => {
    let text = ''
    use(new StepLine('unit', { isTerminal, columns: 80, write: more => (text += more) }))
    return text
  }

  it('is the name, and then what came of it', () => {
    for (const isTerminal of [true, false])
      assert.equal(
        written(isTerminal, line => line.end('ok')),
        'unit          ok\n',
      )
  })

  it('is rewritten at a terminal', () => {
    const text = written(true, line => {
      line.show(FIRST)
      line.show(LATER)
      line.end('ok')
    })
    assert.deepEqual(text.split('\r\u001b[K'), [
      'unit          ',
      'unit          0/473 files, running retry/run.test.ts',
      'unit          12/473 files, running retry/run.test.ts and 2 more',
      'unit          ok\n',
    ])
  })

  it('stays readable in a log, without a control character', () => {
    const text = written(false, line => {
      line.show(FIRST)
      line.show(LATER)
      line.end('ok')
    })
    assert.deepEqual(text.split('\n'), [
      'unit          ',
      '              0/473 files, running retry/run.test.ts',
      '              12/473 files, running retry/run.test.ts and 2 more',
      'unit          ok',
      '',
    ])
  })
})
