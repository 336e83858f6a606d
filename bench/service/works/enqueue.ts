import { load } from '../contenders/contender.ts'
import { quantile } from '../../statistics.ts'
import { sized } from '../world.ts'
import type { ServiceWork } from './work.ts'

const CALLERS = 100
const SIZES = {
  full: { warmUp: 20_000, measured: 60_000 },
  quick: { warmUp: 2_000, measured: 6_000 },
}

export const enqueue: ServiceWork = {
  id: 'enqueue',
  title: '100 callers, each adding one task after the other, answered when it is kept',
  contenders: ['secondwind', 'before', 'bullmq'],
  figures: [
    { key: 'tasksPerSecond', label: 'tasks per second', moreIsBetter: true },
    { key: 'p99Ms', label: 'p99 of one call, ms' },
  ],
  bars: [
    { figure: 'tasksPerSecond', sign: '≥', limit: 0.65, times: 'bullmq' },
    { figure: 'tasksPerSecond', sign: '≥', limit: 1, times: 'bullmq', isGoal: true },
  ],
  run: async (name, world) => {
    const { warmUp, measured } = sized(world, SIZES)
    const contender = await (await load(name))(world)
    // Nobody delivers here: the target is never asked.
    const order = { url: 'http://127.0.0.1:9/' }
    await addAll(() => contender.add(order), warmUp)
    const latenciesMs: number[] = []
    const begunAt = performance.now()
    await addAll(async () => {
      const addedAt = performance.now()
      await contender.add(order)
      latenciesMs.push(performance.now() - addedAt)
    }, measured)
    const elapsedMs = performance.now() - begunAt
    await contender.close()
    latenciesMs.sort((a, b) => a - b)
    return { tasksPerSecond: (measured * 1_000) / elapsedMs, p99Ms: quantile(latenciesMs, 0.99) }
  },
}

async function addAll(add: () => Promise<unknown>, count: number): Promise<void> {
  let begun = 0
  const caller = async (): Promise<void> => {
    while (begun < count) {
      begun++
      await add()
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
}
