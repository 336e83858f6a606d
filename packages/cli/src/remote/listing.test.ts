import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { inPipe } from '../command-line.test-kit.ts'

const LISTS: readonly (readonly string[])[] = [
  ['tasks', 'list', '--created-from', 'soon'],
  ['tasks', 'watch', '--created-from', 'soon'],
  ['dead', 'causes', '--destination', ''],
  ['dead', 'list', '--cause-id', ''],
  ['audit', '--since', 'soon'],
  ['replay', 'list', '--cursor', ''],
]

describe('a list with filters', () => {
  it.each(LISTS)('tells what is wrong with a filter and with its limit at once: %s %s %s', async (...words) => {
    const { stderr, exitCode } = await inPipe([...words, '--limit', 'many', '--url', 'http://127.0.0.1:9'])
    assert.equal(exitCode, 2)
    assert.match(stderr, /^error wrong-option {2}2 values cannot be read/, stderr)
    for (const flag of ['--limit', words.find(word => word.startsWith('--'))!])
      assert.match(stderr, new RegExp(`${flag} must be `), stderr)
  })
})
