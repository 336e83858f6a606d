import assert from 'node:assert/strict'
import type { Clock } from '@secondwind/resilience'
import { createStoreClock } from '../store-clock.ts'
import { StoreUnavailableError, type Answer, type Hint, type Store } from '../store.ts'
import { beat, give, memories, remember, take } from './model/fleet.test-kit.ts'
import { attempts, causes, lanes, list, sweep } from './model/history.test-kit.ts'
import { attemptNow, cancel, endsToTell, endsTold, operate, replay } from './model/operate.test-kit.ts'
import { claim, enqueue, expire, leases, queues, recall, settle } from './model/queue.test-kit.ts'
import { audit, bodies, putBody, record, records, sweepBodies, write } from './model/records.test-kit.ts'
import { NO_COUNTS } from '../../task/replay/counts.ts'
import { World } from './model/world.test-kit.ts'

/**
 * The whole port in the plainest way: lists and maps that every call looks through. It is the reference that random
 * histories compare other stores with, so it has to be obviously right and nothing else.
 */
export function openModel({ clock }: { readonly clock: Pick<Clock, 'now' | 'monotonic'> }): Store {
  const time = createStoreClock({ clock })
  const world = new World()
  const listeners = new Set<(hint: Hint) => void>()
  let isClosed = false

  const read = async <Result>(verb: (now: number) => Result): Promise<Result> => {
    if (isClosed) throw new StoreUnavailableError('store-closed', 'the store was closed; open another')
    const result = verb(time.now())
    for (const hint of world.hints.splice(0)) for (const listener of listeners) listener(hint)
    return result
  }
  const apply = <Result extends object>(verb: (now: number) => Result): Promise<Answer & Result> =>
    read(now => ({ now, ...verb(now) }))

  return {
    kind: 'model',
    durability: 'none',

    enqueue: tasks => apply(() => ({ results: tasks.map(task => enqueue(world, task)) })),
    get: taskIds => read(() => taskIds.flatMap(taskId => world.find(taskId)?.task ?? [])),
    queues: ask => apply(() => queues(world, ask)),
    leases: ask => apply(now => leases(world, ask, now)),
    claim: claims => apply(now => ({ answers: claims.map(each => claim(world, each, now)) })),
    settle: ends => apply(now => ({ results: ends.map(end => settle(world, end, now)) })),
    expire: ask => apply(now => expire(world, ask, now)),
    recall: ask => apply(() => ({ recalled: recall(world, ask) })),
    cancel: (taskId, change = {}) =>
      apply(now => operate(world, taskId, change, now, entry => cancel(world, entry, now))),
    attemptNow: (taskId, change = {}) =>
      apply(now => operate(world, taskId, change, now, entry => attemptNow(world, entry, now))),
    replay: (asks, change) =>
      apply(now => {
        assert(change === undefined || asks.length === 1, 'a change is for one task alone')
        return {
          results: asks.map(ask =>
            operate(world, ask.taskId, change ?? {}, now, entry => replay(world, entry, ask, now)),
          ),
        }
      }),
    endsToTell: ask => apply(() => endsToTell(world, ask)),
    endsTold: ends =>
      apply(() => {
        endsTold(world, ends)
        return {}
      }),

    beat: ask => apply(() => beat(world, ask)),
    take: ask => apply(() => ({ taken: take(world, ask) })),
    give: ask => apply(() => ({ given: give(world, ask) })),
    remember: ask => apply(() => ({ remembered: remember(world, ask) })),
    memories: ask => apply(() => memories(world, ask)),
    onHint: listener => {
      // Wrapped, so that one function that listens twice is called twice.
      const own = (hint: Hint): void => listener(hint)
      listeners.add(own)
      return () => void listeners.delete(own)
    },

    write: (writes, line) => apply(now => write(world, writes, line, now)),
    record: name => read(() => record(world, name)),
    records: ask => read(() => records(world, ask)),
    audit: ask => read(() => audit(world, ask)),

    list: ask => read(() => list(world, ask)),
    attempts: ask => read(() => attempts(world, ask)),
    causes: ask => read(() => causes(world, ask)),
    lanes: ask => read(() => lanes(world, ask)),
    replayCounts: ids => read(() => ids.map(id => world.replays.get(id) ?? NO_COUNTS)),
    sweep: ask => apply(() => ({ swept: sweep(world, ask) })),

    putBody: ask => apply(now => putBody(world, ask, now)),
    bodies: (names, neededUntil) => read(() => bodies(world, names, neededUntil)),
    sweepBodies: ask => apply(() => ({ locations: sweepBodies(world, ask) })),

    health: () => read(now => ({ now, clockSkewMs: time.skewMs() })),
    close: async () => {
      isClosed = true
    },
  }
}
