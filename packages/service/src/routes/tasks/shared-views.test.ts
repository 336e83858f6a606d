import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { LaneView } from '../../task/lane-view.ts'
import { sharingViews } from './shared-views.ts'

const CREDIT = { first: 20, retry: 60, late: 20 }
const VIEW: LaneView = { lane: 'default https://a.example', breaker: 'closed', limit: 1, inFlight: 0, credit: CREDIT }

describe('what is said of a lane', () => {
  it('is found out once in a turn, that nothing is known of it too, and anew in the next', async () => {
    const looked: string[] = []
    const cuts: string[] = []
    const shared = sharingViews({
      view: lane => (looked.push(lane), lane === VIEW.lane ? { ...VIEW, inFlight: looked.length } : undefined),
      cut: taskId => cuts.push(taskId),
    })
    for (let n = 0; n < 3; n++) {
      assert.equal(shared.view(VIEW.lane)?.inFlight, 1)
      assert.equal(shared.view('default https://b.example'), undefined)
    }
    assert.deepEqual(looked, [VIEW.lane, 'default https://b.example'])
    await new Promise(setImmediate)
    assert.equal(shared.view(VIEW.lane)?.inFlight, 3)
    shared.cut('t1')
    assert.deepEqual(cuts, ['t1'])
  })
})
