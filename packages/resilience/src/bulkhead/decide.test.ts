import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { admit, mayLeaveQueue, waitEndsAt } from './decide.ts'
import { withBulkheadDefaults } from './policy.ts'

const policy = withBulkheadDefaults({ limit: 2, maxQueued: 1 })

describe('a call that arrives', () => {
  it('starts while there is a slot, waits while there is room, and is refused after that', () => {
    assert.equal(admit(policy, { running: 1, queued: 0 }), 'start')
    assert.equal(admit(policy, { running: 2, queued: 0 }), 'queue')
    assert.equal(admit(policy, { running: 2, queued: 1 }), 'refuse')
  })

  it('does not overtake those who wait, though a slot is free', () => {
    assert.equal(admit({ ...policy, maxQueued: 2 }, { running: 1, queued: 1 }), 'queue')
  })

  it('never waits where nobody may', () => {
    assert.equal(admit({ ...policy, maxQueued: 0 }, { running: 2, queued: 0 }), 'refuse')
  })

  it('never makes more run than the limit or more wait than the queue holds, whatever comes and goes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('arrive', 'end', 'abort', 'shrink', 'grow'), { maxLength: 200 }),
        happenings => {
          let [limit, running, queued] = [3, 0, 0]
          for (const happening of happenings) {
            if (happening === 'shrink') limit = Math.max(1, limit - 1)
            if (happening === 'grow') limit++
            if (happening === 'end') running = Math.max(0, running - 1)
            if (happening === 'abort') queued = Math.max(0, queued - 1)
            const present = withBulkheadDefaults({ limit, maxQueued: 2 })
            const before = running
            const admission = happening === 'arrive' ? admit(present, { running, queued }) : 'none'
            if (admission === 'start') running++
            if (admission === 'queue') queued++
            const leaving = mayLeaveQueue(present, { running, queued })
            assert.ok(leaving >= 0)
            running += leaving
            queued -= leaving
            assert.ok(running <= Math.max(limit, before) && queued >= 0 && queued <= 2)
            assert.ok(queued === 0 || running >= limit, 'a slot is free and somebody waits')
          }
        },
      ),
    )
  })
})

describe('a wait', () => {
  it('ends after maxWaitMs, or at the deadline if that is sooner', () => {
    assert.equal(waitEndsAt(policy, { now: 500, deadlineAt: 9_000 }), 1_500)
    assert.equal(waitEndsAt(policy, { now: 500, deadlineAt: 900 }), 900)
  })
})
