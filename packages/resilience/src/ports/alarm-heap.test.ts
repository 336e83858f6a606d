import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { AlarmHeap } from './alarm-heap.ts'
import { NOT_ARMED, type Alarm } from './clock.ts'

function alarm(dueAt: number): Alarm {
  return { dueAt, slot: NOT_ARMED, ring: () => {} }
}

describe('AlarmHeap', () => {
  it('yields alarms in the order of their due instants, whatever was added and removed in between', () => {
    const anyStep = fc.oneof(
      fc.record({ kind: fc.constant('add' as const), dueAt: fc.integer({ min: 0, max: 50 }) }),
      fc.record({ kind: fc.constant('remove' as const), pick: fc.nat() }),
      fc.record({ kind: fc.constant('take' as const) }),
    )
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 200 }), steps => {
        const heap = new AlarmHeap()
        const model = new Set<Alarm>()
        for (const step of steps) {
          const all = [...model]
          if (step.kind === 'add') {
            const added = alarm(step.dueAt)
            heap.add(added)
            model.add(added)
          } else if (all.length > 0) {
            const removed = step.kind === 'take' ? heap.first! : all[step.pick % all.length]!
            if (step.kind === 'take') assert.equal(removed.dueAt, Math.min(...all.map(({ dueAt }) => dueAt)))
            heap.remove(removed)
            model.delete(removed)
            assert.equal(removed.slot, NOT_ARMED)
          }
          assert.equal(heap.size, model.size)
        }
      }),
    )
  })

  it('lets an alarm be removed twice', () => {
    const heap = new AlarmHeap()
    const [first, second] = [alarm(1), alarm(2)]
    heap.add(first)
    heap.add(second)
    heap.remove(first)
    heap.remove(first)
    assert.equal(heap.first, second)
    assert.equal(heap.size, 1)
  })
})
