import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { sayLogLine } from './narrator.ts'

describe('a line of the log among those for people', () => {
  it('is said in words: what, where and why', () => {
    const refused = { level: 50, time: 1, code: 'intake-off', method: 'POST', route: '/retry-tasks', msg: 'refused' }
    assert.equal(
      sayLogLine(`${JSON.stringify({ ...refused, detail: 'A switch is on.' })}\n`),
      'error intake-off  refused  POST /retry-tasks: A switch is on.\n',
    )
    const failed = { level: 50, msg: 'failed', err: { message: 'boom' } }
    assert.equal(sayLogLine(JSON.stringify(failed)), 'error failed: boom\n')
  })

  it('stays as it is where it is no document', () => {
    assert.equal(sayLogLine('hello\n'), 'hello\n')
  })
})
