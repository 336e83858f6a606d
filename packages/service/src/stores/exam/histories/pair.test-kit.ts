import assert from 'node:assert/strict'
import { virtualClock, type VirtualClock } from '@secondwind/resilience/testing'
import type { Hint, Store } from '../../store.ts'
import type { OpenedStore, OpenStore } from '../exam.test-kit.ts'
import { checkProgress, checkPromises, snapshotOf, type Scope, type Snapshot } from './snapshot.test-kit.ts'

/** One of two stores that are compared, on a clock of its own. */
interface Side {
  readonly opened: OpenedStore
  readonly clock: VirtualClock
  /** Since the last look. */
  readonly hints: Hint[]
  lastLook: Snapshot | undefined
}

async function openSide(open: OpenStore): Promise<Side> {
  const clock = virtualClock()
  const opened = await open({ clock })
  const hints: Hint[] = []
  opened.store.onHint(hint => hints.push(hint))
  return { opened, clock, hints, lastLook: undefined }
}

/** Two stores that are asked the same. Their answers must be equal. */
export class Pair {
  readonly #sides: readonly [Side, Side]

  static async open(opens: readonly [OpenStore, OpenStore]): Promise<Pair> {
    return new Pair([await openSide(opens[0]), await openSide(opens[1])])
  }

  private constructor(sides: readonly [Side, Side]) {
    this.#sides = sides
  }

  async close(): Promise<void> {
    for (const { opened } of this.#sides) await opened.store.close()
  }

  async advance(ms: number): Promise<void> {
    for (const { clock } of this.#sides) await clock.advance(ms)
  }

  jumpWall(ms: number): void {
    for (const { clock } of this.#sides) clock.jumpWall(ms)
  }

  async now(): Promise<number> {
    return (await this.ask(store => store.health())).now
  }

  /** The same call to both. */
  async ask<Result>(call: (store: Store) => Promise<Result>): Promise<Result> {
    const [one, other] = await this.askEach(call)
    assert.deepEqual(other, one)
    return one
  }

  /** The same for an answer that may lag. */
  async askLists<Result>(call: (store: Store) => Promise<Result>): Promise<Result> {
    for (const { opened } of this.#sides) await opened.caughtUp?.()
    return this.ask(call)
  }

  /** For answers with parts that are each store's own. */
  async askEach<Result>(call: (store: Store) => Promise<Result>): Promise<readonly [Result, Result]> {
    const [one, other] = this.#sides
    return [await call(one.opened.store), await call(other.opened.store)]
  }

  /** Compares all that can be read, and checks the promises of every store. */
  async look(scope: Scope): Promise<void> {
    const looks: Snapshot[] = []
    for (const side of this.#sides) {
      await side.opened.caughtUp?.()
      const look = await snapshotOf(side.opened.store, scope)
      checkPromises(look)
      if (side.lastLook !== undefined) checkProgress(side.lastLook, look)
      side.lastLook = look
      looks.push(look)
    }
    assert.deepEqual(looks[1], looks[0])
    this.#compareHints()
  }

  /** A task that was forgotten may come again, and begins anew. */
  forgetLook(): void {
    for (const side of this.#sides) side.lastLook = undefined
  }

  /** The first store gives no more hints than it must; the other may give more, and earlier ones. */
  #compareHints(): void {
    const [needed, given] = [this.#sides[0].hints.splice(0), this.#sides[1].hints.splice(0)]
    for (const { lane, queue, dueAt } of needed) {
      const isGiven = given.some(hint => hint.lane === lane && hint.queue === queue && hint.dueAt <= dueAt)
      assert.ok(isGiven, `a hint for ${lane} ${queue}, not later than ${dueAt}`)
    }
  }
}
