import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { inPipe } from '../command-line.test-kit.ts'

describe('an answer', () => {
  it('has one form: of two that are asked for none is taken, before anything is run', async () => {
    // Nothing listens there, and nobody was asked.
    const words = ['tasks', 'list', '--csv', '--url', 'http://127.0.0.1:9', '--ids']
    const { stdout, stderr, exitCode } = await inPipe(words)
    assert.deepEqual([stdout, exitCode], ['', 2])
    assert.match(
      stderr,
      /^error wrong-option {2}--csv and --ids ask for different forms\n\n {2}An answer .*\n {2}Nothing/,
    )
    assert.ok(stderr.includes('do   secondwind tasks list --csv --url http://127.0.0.1:9\n'), stderr)
    assert.ok(stderr.includes('     secondwind tasks list --url http://127.0.0.1:9 --ids\n'), stderr)
  })

  it('that is asked for as JSON is refused as JSON', async () => {
    const { stdout, stderr, exitCode } = await inPipe(['lab', 'cases', '--json', '--csv'])
    assert.deepEqual([stdout, exitCode], ['', 2])
    const { error } = JSON.parse(stderr) as { error: { code: string; next: readonly string[] } }
    assert.deepEqual([error.code, error.next[1]], ['wrong-option', 'secondwind lab cases --csv'])
  })

  it('to what came from stdin is not proposed without it', async () => {
    const { stderr } = await inPipe(['tasks', 'submit', '--batch', '-', '--json', '--ndjson'], { input: '{}' })
    assert.match(stderr, /"next":\["secondwind tasks submit --help"\]/)
  })
})
