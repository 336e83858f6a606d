import assert from 'node:assert/strict'
import { partitionOf } from '../../../task/lane.ts'
import { everything } from '../exam.test-kit.ts'
import type { Pair } from './pair.test-kit.ts'
import { partitionAt } from './places.test-kit.ts'
import { waitingIn } from './snapshot.test-kit.ts'
import type { StepOf } from './steps.test-kit.ts'

/** The steps of a history that are about instances, stewards and memories. */
export class FleetSteps {
  readonly #pair: Pair
  readonly #stewards = new Map<number, string | null>()
  readonly #versions: [number, number] = [0, 0]
  #number = 0

  constructor(pair: Pair) {
    this.#pair = pair
  }

  /** Numbers of record versions are each store's own; only that one has changed is compared. */
  async beat({ isOther, ...largeFrom }: StepOf<'beat'>): Promise<void> {
    const ask = { instance: isOther ? 'two' : 'one', largeFrom }
    const fleets = await this.#pair.askEach(store => store.beat(ask))
    const changed = fleets.map(({ recordsVersion }, at) => recordsVersion !== this.#versions[at])
    for (const [at, { recordsVersion }] of fleets.entries()) this.#versions[at] = recordsVersion
    assert.equal(changed[1], changed[0], 'both say that a record was written, or neither')
    await this.#pair.askLists(store => waitingIn(store, largeFrom))
    await this.#pair.ask(async store => {
      const { beats, stewards } = await store.beat(ask)
      const byName = beats.toSorted((one, other) => (one.instance < other.instance ? -1 : 1))
      return { beats: byName, stewards: stewards.toSorted((one, other) => one.partition - other.partition) }
    })
  }

  async take({ partition: at, isStale }: StepOf<'take'>): Promise<void> {
    const partition = partitionAt(at)
    const token = `steward-${++this.#number}`
    const from = isStale ? 'stale' : (this.#stewards.get(partition) ?? null)
    const { taken } = await this.#pair.ask(store => store.take({ partition, instance: 'one', token, from }))
    assert.equal(taken, !isStale)
    if (taken) this.#stewards.set(partition, token)
  }

  async give({ partition: at, isStale }: StepOf<'give'>): Promise<void> {
    const partition = partitionAt(at)
    const { given } = await this.#pair.ask(store =>
      store.give({ partition, steward: this.steward(partition, isStale) }),
    )
    if (given) this.#stewards.set(partition, null)
  }

  /** Only lanes that have had a task: a steward knows no others. */
  async remember({ partition: at, isStale, value }: StepOf<'remember'>): Promise<void> {
    const partition = partitionAt(at)
    const counted = await this.#pair.askLists(store => everything(page => store.lanes(page)))
    const known = counted.filter(({ lane }) => partitionOf(lane) === partition)
    const lanes = known.slice(value % 2).map(({ lane }) => ({ lane, memory: { value } }))
    await this.#pair.ask(store => store.remember({ partition, steward: this.steward(partition, isStale), lanes }))
  }

  isSteward(partition: number, token: string): boolean {
    return this.#stewards.get(partition) === token
  }

  steward(partition: number, isStale: boolean): string {
    return isStale ? 'stale' : (this.#stewards.get(partition) ?? 'nobody')
  }
}
