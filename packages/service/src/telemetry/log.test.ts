import assert from 'node:assert/strict'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import { tellAll, type AttemptEnded, type DispatchEvents } from './events.ts'
import { logEvents } from './log.ts'
import { watchLoopLag } from './loop-lag.ts'

const attempt: AttemptEnded = {
  taskId: 'a',
  lane: 'default https://a.example',
  policyId: 'payments',
  attemptNumber: 2,
  outcome: 'transient',
  responseStatus: 503,
  errorCode: 'http-503',
  errorMessage: 'what the target wrote',
  durationMs: 20,
  latenessMs: 3,
  ownLatenessMs: 2,
  overheadMs: 1,
}

function setting() {
  const clock = virtualClock()
  const lines: { level: string; fields: object; message: string }[] = []
  const at =
    (level: string) =>
    (fields: object, message: string): void =>
      void lines.push({ level, fields, message })
  const events = logEvents({ log: { info: at('info'), warn: at('warn'), error: at('error') }, clock })
  return { clock, lines, events }
}

describe('the log', () => {
  it('has a line for a failed attempt, without what the target wrote, and none for one that succeeded', () => {
    const { events, lines } = setting()
    events.attemptEnded(attempt)
    events.attemptEnded({ ...attempt, outcome: 'success' })
    const { taskId, lane, policyId, outcome, responseStatus, errorCode, durationMs } = attempt
    assert.deepEqual(lines, [
      {
        level: 'info',
        fields: { taskId, lane, policyId, outcome, responseStatus, errorCode, durationMs },
        message: 'attempt failed',
      },
    ])
  })

  it('warns of a dead letter, with its reason, and says nothing of other ends', () => {
    const { events, lines } = setting()
    const { taskId, lane, policyId } = attempt
    const ended = { taskId, lane, policyId, attemptNumber: 8, ageMs: 60_000 }
    for (const status of ['SUCCEEDED', 'CANCELLED'] as const) events.taskEnded({ ...ended, status })
    events.taskEnded({ ...ended, status: 'EXHAUSTED', reason: 'attempts' })
    assert.deepEqual(lines, [{ level: 'warn', fields: { ...ended, reason: 'attempts' }, message: 'task given up' }])
  })

  it('warns of a result that came too late', () => {
    const { events, lines } = setting()
    events.orphan(attempt)
    assert.deepEqual([lines[0]?.level, lines.length], ['warn', 1])
    assert.match(lines[0]!.message, /after its lease was taken over/)
  })

  it('says a warning once a minute, and then how often it was held back', async () => {
    const { events, lines, clock } = setting()
    for (let n = 0; n < 5; n++) events.warning('policy-missing', 'no policy')
    events.warning('store-slow', 'the store is slow')
    await clock.advance(59_999)
    events.warning('policy-missing', 'no policy')
    await clock.advance(1)
    events.warning('policy-missing', 'no policy')
    await clock.advance(60_000)
    events.warning('policy-missing', 'no policy')
    assert.deepEqual(
      lines.map(({ fields }) => fields),
      [
        { code: 'policy-missing' },
        { code: 'store-slow' },
        { code: 'policy-missing', repeats: 5 },
        { code: 'policy-missing' },
      ],
    )
  })

  it('keeps no more codes than there can be', () => {
    const { events, lines } = setting()
    for (let n = 0; n < 3_000; n++) events.warning(`code-${n}`, 'again')
    assert.equal(lines.length, 1_000)
  })
})

describe('events', () => {
  it('are heard by everybody, in order', () => {
    const heard: string[] = []
    const listener = (name: string): DispatchEvents => ({
      attemptEnded: () => heard.push(`${name} attempt`),
      taskChanged: () => heard.push(`${name} change`),
      taskEnded: () => heard.push(`${name} task`),
      held: () => heard.push(`${name} held`),
      breakerChanged: () => heard.push(`${name} breaker`),
      orphan: () => heard.push(`${name} orphan`),
      warning: code => heard.push(`${name} ${code}`),
    })
    const all = tellAll([listener('1'), listener('2')])
    all.attemptEnded(attempt)
    all.taskChanged('default', () => assert.fail('nobody asked what'))
    all.taskEnded({ ...attempt, status: 'CANCELLED', ageMs: 1 })
    all.held({ lane: attempt.lane, reason: 'slots', ms: 1 })
    all.breakerChanged({ tenant: 'default', destination: 'https://a.example', phase: 'closed' })
    all.orphan(attempt)
    all.warning('code', 'text')
    const words = ['attempt', 'change', 'task', 'held', 'breaker', 'orphan', 'code']
    assert.deepEqual(
      heard,
      words.flatMap(word => [`1 ${word}`, `2 ${word}`]),
    )
  })
})

describe('the lag of the event loop', () => {
  it('is the longest since it was asked before, and leaves nothing behind', async () => {
    const clock = virtualClock()
    // As an alarm's clock it is punctual; as a stopwatch it runs on while the loop stands still.
    let stalledMs = 0
    const stalling = Object.assign(Object.create(clock) as typeof clock, {
      monotonic: () => clock.monotonic() + stalledMs,
      arm: (alarm: Parameters<typeof clock.arm>[0]) => clock.arm(alarm),
      disarm: (alarm: Parameters<typeof clock.disarm>[0]) => clock.disarm(alarm),
    })
    const lag = watchLoopLag(stalling)
    await clock.advance(1_000)
    assert.equal(lag.takeLongestMs(), 0)
    stalledMs = 80
    await clock.advance(500)
    await clock.advance(2_000)
    assert.equal(lag.takeLongestMs(), 80)
    assert.equal(lag.takeLongestMs(), 0)
    lag.stop()
    assert.equal(clock.pending, 0)
  })
})
