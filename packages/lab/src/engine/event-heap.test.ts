import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { EventHeap } from './event-heap.ts'

type Step =
  | { readonly kind: 'set'; readonly id: number; readonly at: number }
  | { readonly kind: 'clear'; readonly id: number }
  | { readonly kind: 'next' }

const id = fc.nat(40)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('set' as const), id, at: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const), id }) },
  { weight: 3, arbitrary: fc.constant({ kind: 'next' as const }) },
)

/** What the heap promises, without a heap. */
class SortedEvents {
  #events: { id: number; at: number; order: number }[] = []
  #order = 0

  set(id: number, at: number): void {
    this.clear(id)
    this.#events.push({ id, at, order: this.#order++ })
    this.#events.sort((one, other) => one.at - other.at || one.order - other.order)
  }

  clear(id: number): void {
    this.#events = this.#events.filter(event => event.id !== id)
  }

  next(): readonly [id: number, at: number | undefined] {
    const event = this.#events.shift()
    return event === undefined ? [-1, undefined] : [event.id, event.at]
  }

  get size(): number {
    return this.#events.length
  }
}

describe('the event heap', () => {
  it('hands out events by their instants, and equal ones in the order in which they were set', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), steps => {
        const [heap, model] = [new EventHeap(), new SortedEvents()]
        for (const taken of steps) {
          if (taken.kind === 'set') {
            heap.set(taken.id, taken.at)
            model.set(taken.id, taken.at)
          } else if (taken.kind === 'clear') {
            heap.clear(taken.id)
            model.clear(taken.id)
          } else {
            const id = heap.next()
            assert.deepEqual([id, id < 0 ? undefined : heap.at], model.next())
          }
          assert.equal(heap.size, model.size)
        }
      }),
      { seed: 7, numRuns: 300 },
    )
  })

  it('grows with what is in it', () => {
    const heap = new EventHeap()
    for (let id = 0; id < 5_000; id++) heap.set(id, (id * 7_919) % 5_003)
    let before = -1
    for (let count = 0; count < 5_000; count++) {
      heap.next()
      assert.ok(heap.at > before)
      before = heap.at
    }
    assert.equal(heap.next(), -1)
  })
})
