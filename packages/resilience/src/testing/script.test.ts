import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { readScript, type Scene, type ScriptedAnswer, type ScriptEntry } from './script.ts'

const scene = (entry: ScriptEntry): Scene => readScript([entry], undefined)[0]!

/** Named like the field of the script; an object literal with it is what linters warn of. */
function breakingOff(ending: 'reset' | 'hang', answer: ScriptedAnswer = {}): ScriptedAnswer {
  return { ...answer, ending }
}

describe('a line of a script', () => {
  it('names a status, and may add headers and a body', () => {
    assert.deepEqual(scene('503'), {
      kind: 'answer',
      delayMs: 0,
      answer: { status: 503, headers: {}, body: undefined },
    })
    assert.deepEqual(scene('503 Retry-After=1').answer?.headers, { 'retry-after': '1' })
    assert.deepEqual(scene('429 retry-after="Thu, 01 Jan 2026 00:00:05 GMT" x-limit=3 slow down').answer, {
      status: 429,
      headers: {
        'content-type': 'text/plain;charset=UTF-8',
        'retry-after': 'Thu, 01 Jan 2026 00:00:05 GMT',
        'x-limit': '3',
      },
      body: 'slow down',
    })
  })

  it('is sent as JSON if its body is an object or a list', () => {
    for (const body of ['{"ok":true}', '[1, 2]'])
      assert.deepEqual(scene(`200 ${body}`).answer, {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body,
      })
    assert.equal(scene('200 {no json').answer?.headers['content-type'], 'text/plain;charset=UTF-8')
    assert.equal(scene('200 [no json').answer?.headers['content-type'], 'text/plain;charset=UTF-8')
  })

  it('keeps the content type it names', () => {
    assert.equal(
      scene('400 content-type=application/problem+json {}').answer?.headers['content-type'],
      'application/problem+json',
    )
  })

  it('may lose the connection or hang, and may be slow in all it does', () => {
    assert.deepEqual(scene('reset'), { kind: 'reset', delayMs: 0, answer: undefined })
    assert.deepEqual(scene('hang'), { kind: 'hang', delayMs: 0, answer: undefined })
    assert.deepEqual(scene('slow 200ms reset'), { kind: 'reset', delayMs: 200, answer: undefined })
    assert.equal(scene('slow 200ms 200').delayMs, 200)
  })

  it('that cannot be read is refused, with examples of what can', () => {
    for (const line of ['', 'ok', '20', '2000', 'slow 200', 'slow 200ms', 'slow 1s 200', 'reset 200', 'hang on'])
      assert.throws(() => scene(line), {
        code: 'invalid-options',
        message: /0 must read like '503 retry-after=1', 'reset'/,
      })
  })

  it('cannot send a body with a status that has none, nor a status that is no answer', () => {
    assert.throws(() => scene('204 text'), /0\.status has no body that could be sent or break off \(is 204\)/)
    assert.throws(() => scene(breakingOff('reset', { status: 304 })), /0\.status has no body/)
    assert.throws(() => scene('101'), /0\.status must be .* from 200 to 599/)
    assert.throws(() => scene('600'), /0\.status must be/)
  })
})

describe('an answer as data', () => {
  it('is 200 without a body unless it says otherwise', () => {
    assert.deepEqual(scene({}), { kind: 'answer', delayMs: 0, answer: { status: 200, headers: {}, body: undefined } })
    assert.deepEqual(scene({ delayMs: 5 }).kind, 'answer')
  })

  it('sends texts and bytes as they are, and everything else as JSON', () => {
    assert.equal(scene({ body: 'text' }).answer?.body, 'text')
    assert.deepEqual(scene({ body: new Uint8Array([1, 2]) }).answer, {
      status: 200,
      headers: {},
      body: new Uint8Array([1, 2]),
    })
    assert.deepEqual(scene({ status: 400, body: { detail: 'no' } }).answer, {
      status: 400,
      headers: { 'content-type': 'application/json' },
      body: '{"detail":"no"}',
    })
    assert.equal(scene({ body: null }).answer?.body, 'null')
  })

  it('with an ending alone answers nothing; with anything else it breaks off after the body', () => {
    assert.deepEqual(scene(breakingOff('hang', { delayMs: 7 })), { kind: 'hang', delayMs: 7, answer: undefined })
    assert.deepEqual(scene(breakingOff('reset', { body: 'half' })), {
      kind: 'reset',
      delayMs: 0,
      answer: { status: 200, headers: { 'content-type': 'text/plain;charset=UTF-8' }, body: 'half' },
    })
  })
})

describe('a script', () => {
  it('reports all of its problems at once, each with its place', () => {
    const entries = ['200', 'nonsense', { status: 99, delay: 5 }, 7, { headers: { a: 1 } }] as ScriptEntry[]
    assert.throws(
      () => readScript(entries, breakingOff('explode' as 'reset')),
      ({ message, code }: Error & { code: string }) => {
        assert.equal(code, 'invalid-options')
        for (const problem of [
          /\n {2}1 must read like/,
          /\n {2}2\.status must be .* from 200 to 599 \(is 99\)/,
          /\n {2}2\.delay is an unknown field/,
          /\n {2}3 must be a line or an object \(is 7\)/,
          /\n {2}4\.headers must be texts by name/,
          /\n {2}whenDone\.ending must be one of reset, hang/,
        ])
          assert.match(message, problem)
        return true
      },
    )
  })

  it('needs an entry, or something to do when it is done', () => {
    assert.throws(() => readScript([], undefined), /script must have an entry, or a whenDone/)
    assert.equal(readScript([], '204').length, 1)
  })
})
