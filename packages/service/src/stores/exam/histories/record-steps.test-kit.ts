import type { RecordWrite } from '../../store.ts'
import { only } from '../exam.test-kit.ts'
import type { Pair } from './pair.test-kit.ts'
import { asking, BODIES, LINE, RECORDS } from './places.test-kit.ts'
import type { StepOf } from './steps.test-kit.ts'

/** The steps of a history that are about records and bodies. */
export class RecordSteps {
  readonly #pair: Pair
  /** By the place of their records: the present names of replays. */
  readonly #replayIds = new Map<number, string>()
  /** The names that replays have, or had. */
  readonly everyReplayId: string[]
  #number = 0

  constructor(pair: Pair) {
    this.#pair = pair
    for (const [at, { kind, id }] of RECORDS.entries()) if (kind === 'replay') this.#replayIds.set(at, id)
    this.everyReplayId = [...this.#replayIds.values()]
  }

  /** Undefined for one more than there are. */
  replayId(nth: number): string | undefined {
    return [...this.#replayIds.values()][nth]
  }

  async write({ writes: steps, isNoted }: StepOf<'write'>): Promise<void> {
    const places = new Map(steps.map(step => [step.record % RECORDS.length, step]))
    const writes: RecordWrite[] = []
    for (const [at, { value, isRemoval, version }] of places) {
      const record = only([RECORDS[at]])
      const name = { ...record, id: this.#replayIds.get(at) ?? record.id }
      const present = await this.#pair.ask(store => store.record(name))
      const document = isRemoval && present !== undefined ? null : { value }
      writes.push({ ...name, document, ...asking(version, present) })
    }
    const { kind } = await this.#pair.ask(store => (isNoted ? store.write(writes, LINE) : store.write(writes)))
    if (kind === 'written') this.#nameAnew(writes)
  }

  /** No replay gets the name of a removed one: tasks of that one would be counted with its own. */
  #nameAnew(writes: readonly RecordWrite[]): void {
    for (const [at, replayId] of this.#replayIds) {
      if (!writes.some(({ kind, id, document }) => kind === 'replay' && id === replayId && document === null)) continue
      this.#replayIds.set(at, `${replayId}+`)
      this.everyReplayId.push(`${replayId}+`)
    }
  }

  async putBody({ body, mostBytes, neededMs }: StepOf<'put-body'>): Promise<void> {
    const upload = { contentType: 'text/plain', location: `location ${++this.#number}`, sizeBytes: 10 }
    const neededUntil = (await this.#pair.now()) + neededMs
    await this.#pair.ask(store => store.putBody({ ...only([BODIES[body]]), ...upload, neededUntil, mostBytes }))
  }

  async needBodies({ bodies, neededMs }: StepOf<'need-bodies'>): Promise<void> {
    const until = (await this.#pair.now()) + neededMs
    const names = bodies.flatMap(at => BODIES[at] ?? [])
    await this.#pair.ask(store => store.bodies(names, until))
  }

  /** Bodies that are unneeded for the same time are in no order: a limit may take any of them. */
  async sweepBodies({ unneededMs }: StepOf<'sweep-bodies'>): Promise<void> {
    const ask = { neededBefore: (await this.#pair.now()) - unneededMs, limit: 100 }
    await this.#pair.ask(async store => (await store.sweepBodies(ask)).locations.toSorted())
  }
}
