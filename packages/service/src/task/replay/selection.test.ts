import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { GiveUpReason } from '@secondwind/resilience'
import { describe, it } from 'vitest'
import { countPage, skippedBecause, withGone, type Candidate } from './selection.ts'
import { aReplay, NOW } from './replay.test-kit.ts'

const planning = aReplay({ status: 'PLANNING', selected: 0, destinations: [] })

function candidate(n: number, changes: Partial<Candidate> = {}): Candidate {
  return { taskId: `task ${n}`, destination: 'https://api.example', reason: 'attempts', hasPolicy: true, ...changes }
}

describe('a dead letter is left alone', () => {
  const because = (reason: GiveUpReason, hasPolicy = true, include: 'permanent'[] = []) =>
    skippedBecause({ include }, { reason, hasPolicy })

  it('when it would end the same way again, or might be carried out twice', () => {
    assert.equal(because('permanent'), 'permanent')
    assert.equal(because('not-idempotent'), 'not-idempotent')
    assert.equal(because('body-missing'), 'body-missing')
    assert.equal(because('attempts', false), 'policy-missing')
    for (const reason of ['attempts', 'deadline', 'breaker-open', 'lost'] as const)
      assert.equal(because(reason), undefined, reason)
  })

  it('unless its kind is asked for', () => {
    assert.equal(because('permanent', true, ['permanent']), undefined)
    assert.equal(because('permanent', false, ['permanent']), 'policy-missing')
    assert.equal(because('not-idempotent', true, ['permanent']), 'not-idempotent')
  })
})

describe('counting a selection', () => {
  it('adds up, page by page, whatever the pages hold', () => {
    const one = fc.record({
      reason: fc.constantFrom<GiveUpReason>('attempts', 'permanent', 'body-missing'),
      hasPolicy: fc.boolean(),
      destination: fc.nat(14).map(n => `https://${n}.example`),
    })
    fc.assert(
      fc.property(fc.array(fc.array(one, { maxLength: 30 }), { minLength: 1, maxLength: 5 }), pages => {
        let replay = planning
        let n = 0
        for (const [at, page] of pages.entries()) {
          const candidates = page.map(changes => candidate(n++, changes))
          const next = at < pages.length - 1 ? { nextCursor: `behind ${at}` } : {}
          replay = countPage(replay, { candidates, gone: [], ...next }, NOW + at)
        }
        const skipped = replay.skipped.reduce((sum, { count }) => sum + count, 0)
        assert.equal(replay.selected + skipped, n)
        assert.deepEqual([replay.status, replay.cursor], ['PLANNED', undefined])
        const wanted = pages.flat().filter(each => skippedBecause(replay, each) === undefined)
        const destinations = new Set(wanted.map(({ destination }) => destination))
        assert.equal(replay.selected, wanted.length)
        assert.equal(replay.hasMoreDestinations, destinations.size > 10)
        assert.ok(replay.destinations.every(destination => destinations.has(destination)))
      }),
    )
  })

  it('keeps a few of those it leaves alone, to look at', () => {
    const candidates = [1, 2, 3, 4, 5].map(n => candidate(n, { reason: 'permanent' }))
    const { skipped } = countPage(planning, { candidates, gone: ['gone'], nextCursor: 'next' }, NOW)
    assert.deepEqual(skipped, [
      { because: 'permanent', count: 5, sampleTaskIds: ['task 1', 'task 2', 'task 3'] },
      { because: 'no-longer-dead', count: 1, sampleTaskIds: ['gone'] },
    ])
  })

  it('says at the end how many were gone before their turn', () => {
    assert.deepEqual(withGone(aReplay({ selected: 10 }), 7).skipped, [
      { because: 'no-longer-dead', count: 3, sampleTaskIds: [] },
    ])
    assert.deepEqual(withGone(aReplay({ selected: 10 }), 10).skipped, [])
  })
})
