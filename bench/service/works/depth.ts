/** What each verb of the store costs while two million tasks wait, beside ten thousand. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { seededRandom } from '../../statistics.ts'
import type { Figures } from '../../work.ts'
import { fill, openStore, stewardOf, type Store, type StewardedQueue, succeed } from '../ours/store.ts'
import { newTask } from '../ours/tasks.ts'
import { sized, type World } from '../world.ts'
import type { ServiceWork } from './work.ts'

const SIZES = {
  full: { waiting: { secondwind: 2_000_000, 'ten-thousand': 10_000 }, warmUp: 50, measured: 300 },
  quick: { waiting: { secondwind: 50_000, 'ten-thousand': 1_000 }, warmUp: 5, measured: 20 },
}
const BATCH = 100
/** Never asked: these tasks are claimed and settled, and nobody sends them. */
const URL = 'http://127.0.0.1:9/'
const SEED = 17
const HOUR_MS = 3_600_000

/** Every waiting task is due, at a random instant of the hour that begins here: not in the order of their arrival. */
function waitingFrom({ startedAt }: World): number {
  return startedAt - 2 * HOUR_MS
}

const MICROS = [
  { key: 'claimMicros', label: 'claim, µs per task' },
  { key: 'settleMicros', label: 'settle, µs per task' },
  { key: 'enqueueMicros', label: 'enqueue, µs per task' },
  { key: 'keylessMicros', label: 'enqueue without a key, µs per task' },
]

export const fresh: ServiceWork = {
  id: 'fresh',
  title: '2,000,000 tasks wait; batches of 100 that are due before them come and go',
  contenders: ['secondwind', 'before', 'ten-thousand'],
  figures: [...MICROS, { key: 'residentMb', label: 'memory of the process, MB' }],
  bars: [
    { figure: 'claimMicros', sign: '≤', limit: 1.3, times: 'ten-thousand' },
    { figure: 'settleMicros', sign: '≤', limit: 1.3, times: 'ten-thousand' },
    { figure: 'claimMicros', sign: '≤', limit: 1.1, times: 'ten-thousand', isGoal: true },
    { figure: 'settleMicros', sign: '≤', limit: 1.1, times: 'ten-thousand', isGoal: true },
  ],
  prepare,
  run: (contender, world) => {
    let dueAt = waitingFrom(world) - HOUR_MS
    return run(contender, world, () => dueAt++)
  },
}

export const random: ServiceWork = {
  id: 'random',
  title: '2,000,000 tasks wait, all due, in random order; each batch takes the earliest',
  contenders: ['secondwind', 'before', 'ten-thousand'],
  figures: MICROS,
  bars: [
    { figure: 'enqueueMicros', sign: '≤', limit: 2, times: 'ten-thousand', isGoal: true },
    { figure: 'settleMicros', sign: '≤', limit: 2, times: 'ten-thousand', isGoal: true },
  ],
  prepare,
  run: (contender, world) => {
    const roll = seededRandom(process.pid)
    return run(contender, world, () => waitingFrom(world) + Math.floor(roll() * HOUR_MS))
  },
}

/** Both works use the same files: the first to be asked makes them. */
async function prepare(world: World): Promise<void> {
  const roll = seededRandom(SEED)
  for (const [contender, count] of Object.entries(sized(world, SIZES).waiting))
    await fill(folderOf(contender, world), count, number =>
      newTask({ url: URL, now: waitingFrom(world) + Math.floor(roll() * HOUR_MS), key: `waiting-${number}` }),
    )
}

function folderOf(contender: string, { folder }: World): string {
  return join(folder, `depth-${contender}`)
}

async function run(contender: string, world: World, nextDueAt: () => number): Promise<Figures> {
  const { warmUp, measured } = sized(world, SIZES)
  const store = await openStore(folderOf(contender, world))
  const steward = await stewardOf(store, URL)
  await cycle(store, steward, warmUp, nextDueAt)
  const spent = await cycle(store, steward, measured, nextDueAt)
  const residentMb = process.memoryUsage.rss() / 1e6
  await store.close()
  return { ...spent, residentMb }
}

/** Batch by batch: taken in, claimed, settled, so that as many wait afterwards as before. */
async function cycle(
  store: Store,
  steward: StewardedQueue,
  batches: number,
  nextDueAt: () => number,
): Promise<Figures> {
  const totals = { claimMicros: 0, settleMicros: 0, enqueueMicros: 0, keylessMicros: 0 }
  const clocked = async <Result>(key: keyof typeof totals, act: () => Promise<Result>): Promise<Result> => {
    const begunAt = performance.now()
    const result = await act()
    totals[key] += ((performance.now() - begunAt) * 1_000) / (batches * BATCH)
    return result
  }
  for (let batch = 0; batch < batches; batch++) {
    for (const hasKey of [true, false]) {
      const tasks = Array.from({ length: BATCH }, () =>
        newTask({ url: URL, now: nextDueAt(), ...(hasKey && { key: randomUUID() }) }),
      )
      await clocked(hasKey ? 'enqueueMicros' : 'keylessMicros', () => store.enqueue(tasks))
    }
    for (let half = 0; half < 2; half++) {
      const claimed = await clocked('claimMicros', () => steward.claim(BATCH))
      assert.equal(claimed.length, BATCH)
      const settlements = claimed.map(succeed)
      const { results } = await clocked('settleMicros', () => store.settle(settlements))
      assert.ok(results.every(({ kind }) => kind === 'settled'))
    }
  }
  // Two claims and two settles for each enqueue of either sort.
  return { ...totals, claimMicros: totals.claimMicros / 2, settleMicros: totals.settleMicros / 2 }
}
