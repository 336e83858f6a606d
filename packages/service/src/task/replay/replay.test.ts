import { REPLAY_STATUSES } from '@secondwind/client'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { act, overlap, type ReplayAction } from './replay.ts'
import { aReplay, NOW, someCounts } from './replay.test-kit.ts'

const MOMENT = { counts: someCounts({ moved: 7, sent: 6, waiting: 1 }), now: NOW + 5_000 }

function become(kind: ReplayAction['kind']): { readonly [status: string]: string | undefined } {
  return Object.fromEntries(REPLAY_STATUSES.map(status => [status, act(aReplay({ status }), { kind }, MOMENT)?.status]))
}

describe('an operator', () => {
  it('runs what is planned, and nothing else; twice is once', () => {
    assert.deepEqual(become('run'), { ...NOTHING, PLANNED: 'RUNNING', CANARY: 'CANARY', RUNNING: 'RUNNING' })
    const running = aReplay()
    assert.equal(act(running, { kind: 'run' }, MOMENT), running)
  })

  it('pauses what is under way', () => {
    assert.deepEqual(become('pause'), { ...NOTHING, CANARY: 'PAUSED', RUNNING: 'PAUSED', PAUSED: 'PAUSED' })
  })

  it('resumes what was paused or stopped; what was stopped begins with a canary again', () => {
    const under = { CANARY: 'CANARY', RUNNING: 'RUNNING' }
    assert.deepEqual(become('resume'), { ...NOTHING, ...under, PAUSED: 'RUNNING', STOPPED: 'CANARY' })
    const stopped = aReplay({ status: 'STOPPED', canary: 0, stopped: { failed: 3, of: 5 } })
    const resumed = act(stopped, { kind: 'resume' }, MOMENT)
    assert.deepEqual([resumed?.status, resumed?.stopped], ['RUNNING', undefined])
  })

  it('cancels what has not finished', () => {
    const all = Object.fromEntries(REPLAY_STATUSES.map(status => [status, 'CANCELLED']))
    assert.deepEqual(become('cancel'), { ...all, FINISHED: undefined })
  })

  it('changes the rate of what is under way, or with its resume', () => {
    for (const status of ['RUNNING', 'PAUSED'] as const)
      assert.equal(act(aReplay({ status }), { kind: 'resume', ratePerSecond: 3 }, MOMENT)?.ratePerSecond, 3)
  })

  it('sets going from now on: nothing is made up for, and old failures are not held against it', () => {
    const paused = aReplay({ status: 'PAUSED', nextAt: NOW + 100 })
    const { nextAt, start } = act(paused, { kind: 'resume' }, MOMENT)!
    assert.deepEqual([nextAt, start], [MOMENT.now, { at: MOMENT.now, moved: 7, sent: 6 }])
    const planned = { ...paused, nextAt: MOMENT.now + 900 }
    assert.equal(act(planned, { kind: 'resume' }, MOMENT)?.nextAt, MOMENT.now + 900)
  })
})

const NOTHING = Object.fromEntries(REPLAY_STATUSES.map(status => [status, undefined]))

describe('two replays', () => {
  it('are in each other’s way where they share a destination, or one has more than can be told', () => {
    const [one, other] = [aReplay(), aReplay({ destinations: ['https://other.example'] })]
    assert.equal(overlap(one, other), false)
    assert.equal(overlap(one, aReplay({ destinations: ['https://other.example', 'https://api.example'] })), true)
    assert.equal(overlap(one, { ...other, hasMoreDestinations: true }), true)
  })
})
