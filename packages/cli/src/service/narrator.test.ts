import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { narrate, sayLogLine } from './narrator.ts'

describe('a developer', () => {
  it('reads when a destination has stopped answering, how it failed last, and when it answers again', () => {
    const lines: string[] = []
    const out = { isTerminal: false, columns: 80, rows: 24, hasColors: false, isAscii: true }
    const narrator = narrate({ write: line => lines.push(line), out })
    const lane = { tenant: 'default', destination: 'http://127.0.0.1:4900' }
    narrator.breakerChanged({ ...lane, phase: 'open', until: 90_000, errorCode: 'connection-refused' })
    narrator.breakerChanged({ ...lane, tenant: 'acme', phase: 'open', until: 90_000 })
    narrator.breakerChanged({ ...lane, phase: 'closed' })
    assert.deepEqual(lines, [
      'open    http://127.0.0.1:4900  its breaker has opened: it has stopped answering (connection-refused), and one attempt at a time finds out when it is back\n',
      'open    http://127.0.0.1:4900 of acme  its breaker has opened: it has stopped answering, and one attempt at a time finds out when it is back\n',
      'closed  http://127.0.0.1:4900  its breaker has closed: it answers again\n',
    ])
  })
})

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
