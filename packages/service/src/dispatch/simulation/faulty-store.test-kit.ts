import type { Random } from '@secondwind/resilience'
import type { VirtualClock } from '@secondwind/resilience/testing'
import { StoreUnavailableError, type Hint, type Store, type Verb } from '../../stores/store.ts'
import type { SimulatedProcess } from './instance.test-kit.ts'

/** What becomes of a call: how long it is under way, whether it is carried out, whether its caller gets an answer. */
export interface Fate {
  readonly beforeMs: number
  readonly isApplied: boolean
  readonly afterMs: number
  /** `silence`: no answer ever comes; `error`: the caller hears that it failed, whether it did or not. */
  readonly answer: 'given' | 'error' | 'silence'
}

export const WELL: Fate = { beforeMs: 0, isApplied: true, afterMs: 0, answer: 'given' }

export type FateOf = (process: SimulatedProcess, verb: Verb, ask: unknown) => Fate

/** The partitions that a call names; none for a call that is not about partitions. */
export function partitionsOf(ask: unknown): readonly number[] {
  const asked = (Array.isArray(ask) ? ask : [ask]) as readonly OfPartitions[]
  return asked.flatMap(({ partition, partitions = [] }) => (partition === undefined ? partitions : [partition]))
}

interface OfPartitions {
  readonly partition?: number
  readonly partitions?: readonly number[]
}

interface FaultyStoreOptions {
  readonly store: Store
  readonly process: SimulatedProcess
  readonly clock: VirtualClock
  readonly fateOf: FateOf
  /** When a hint arrives; undefined when it does not. */
  readonly hintDelayMs: (hint: Hint) => number | undefined
}

/** The store as one process sees it: over a network that delays, loses and reorders. */
export function faultyStore({ store, process, clock, fateOf, hintDelayMs }: FaultyStoreOptions): Store {
  const later = (ms: number, happening: () => void): void => {
    if (ms === 0) happening()
    else void clock.sleep(ms).then(happening)
  }

  const call = (verb: Verb, asks: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (process.state === 'dead') return
      const fate = fateOf(process, verb, asks[0])
      const tell = (happening: () => void): void => later(fate.afterMs, () => process.deliver(happening))
      const fail = (): void =>
        tell(() => reject(new StoreUnavailableError('store-unreachable', 'the connection broke')))
      later(fate.beforeMs, () => {
        const verbOf = store[verb] as (...asks: readonly unknown[]) => Promise<unknown>
        const done = fate.isApplied ? verbOf(...asks) : Promise.resolve()
        const answered = (answer: unknown): void => {
          if (fate.answer === 'given' && fate.isApplied) tell(() => resolve(answer))
          else if (fate.answer === 'error') fail()
        }
        void done.then(answered, (error: unknown) => tell(() => reject(error)))
      })
    })

  return new Proxy(store, {
    get: (real, name) => {
      if (name === 'onHint')
        return (listener: (hint: Hint) => void) =>
          real.onHint(hint => {
            const delayMs = process.state === 'dead' ? undefined : hintDelayMs(hint)
            if (delayMs !== undefined) later(delayMs, () => process.deliver(() => listener(hint)))
          })
      const value = Reflect.get(real, name) as unknown
      return typeof value === 'function' ? (...asks: readonly unknown[]) => call(name as Verb, asks) : value
    },
  })
}

/** How unkind the network is, in chances per call. */
export interface Weather {
  readonly slow: number
  readonly lost: number
  readonly failed: number
}

export function fateIn(weather: Weather, random: Random): Fate {
  const roll = random()
  const quick = (): number => Math.floor(random() * 4)
  if (roll < weather.lost) {
    const isApplied = random() < 0.5
    return { beforeMs: isApplied ? Math.floor(random() * 12_000) : 0, isApplied, afterMs: 0, answer: 'silence' }
  }
  if (roll < weather.lost + weather.failed)
    return { beforeMs: quick(), isApplied: random() < 0.5, afterMs: quick(), answer: 'error' }
  if (roll < weather.lost + weather.failed + weather.slow)
    return {
      beforeMs: Math.floor(random() * 6_000),
      isApplied: true,
      afterMs: Math.floor(random() * 6_000),
      answer: 'given',
    }
  return { beforeMs: quick(), isApplied: true, afterMs: quick(), answer: 'given' }
}
