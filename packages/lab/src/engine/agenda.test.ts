import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { Agenda } from './agenda.ts'

type Step =
  | { readonly kind: 'set'; readonly id: number; readonly inMs: number }
  | { readonly kind: 'clear'; readonly id: number }
  | { readonly kind: 'next' }

const id = fc.nat(40)
/** Many at one instant, some far apart; none in the past. */
const inMs = fc.oneof(
  { weight: 3, arbitrary: fc.nat(20) },
  fc.nat(1_000_000),
  fc.double({ min: 0, max: 1e9, noNaN: true }),
)
/** How many make one heap: none, a few, and as in earnest. */
const few = fc.constantFrom(0, 3, 10, undefined)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('set' as const), id, inMs }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const), id }) },
  { weight: 3, arbitrary: fc.constant({ kind: 'next' as const }) },
)

/** What the agenda promises, without piles or heaps. */
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

describe('the agenda', () => {
  it('hands out events by their instants, and equal ones in the order in which they were set', () => {
    fc.assert(
      fc.property(few, fc.array(step, { maxLength: 400 }), (few, steps) => {
        const [agenda, model] = [new Agenda(few), new SortedEvents()]
        for (const taken of steps) {
          if (taken.kind === 'set') {
            const at = agenda.at + taken.inMs
            agenda.set(taken.id, at)
            model.set(taken.id, at)
          } else if (taken.kind === 'clear') {
            agenda.clear(taken.id)
            model.clear(taken.id)
          } else {
            const id = agenda.next()
            assert.deepEqual([id, id < 0 ? undefined : agenda.at], model.next())
          }
          assert.equal(agenda.size, model.size)
        }
      }),
      { seed: 7, numRuns: 1_000 },
    )
  })

  it('grows with what is in it', () => {
    const agenda = new Agenda()
    for (let id = 0; id < 50_000; id++) agenda.set(id, (id * 7_919) % 50_021)
    let before = -1
    for (let count = 0; count < 50_000; count++) {
      agenda.next()
      assert.ok(agenda.at > before)
      before = agenda.at
    }
    assert.equal(agenda.next(), -1)
  })
})
