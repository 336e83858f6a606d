import { load } from '../contenders/contender.ts'
import { seededRandom } from '../../statistics.ts'
import { startSink } from '../sink.ts'
import { preciseNow, sized } from '../world.ts'
import type { ServiceWork } from './work.ts'

const SIZES = {
  full: { warmUp: 5_000, delayed: 5_000, spreadMs: 5_000 },
  quick: { warmUp: 500, delayed: 500, spreadMs: 1_000 },
}
/** All have been added before the first is due. */
const LEAD_MS = 3_000
const SEED = 5

export const lateness: ServiceWork = {
  id: 'lateness',
  title: '5,000 delayed tasks, due at random within 5 s: how late each reaches its target',
  contenders: ['secondwind', 'before', 'bullmq'],
  figures: [
    { key: 'p99Ms', label: 'lateness p99, ms' },
    { key: 'p50Ms', label: 'lateness p50, ms' },
    { key: 'overheadP99Ms', label: 'scheduling overhead p99, ms' },
  ],
  bars: [
    { figure: 'p99Ms', sign: '≤', limit: 0.2, times: 'bullmq' },
    { figure: 'p99Ms', sign: '≤', limit: 0.05, times: 'bullmq', isGoal: true },
    { figure: 'overheadP99Ms', sign: '≤', limit: 1.5, times: 'before' },
    { figure: 'overheadP99Ms', sign: '<', limit: 5, isGoal: true },
  ],
  run: async (name, world) => {
    const { warmUp, delayed, spreadMs } = sized(world, SIZES)
    const open = await load(name)
    const [sink, contender] = await Promise.all([startSink(), open(world)])
    const url = sink.urls[0]!
    const [warm, all] = await sink.watch([warmUp, warmUp + delayed])
    await contender.addMany(Array.from({ length: warmUp }, () => ({ url })))
    await contender.start()
    await warm!
    await contender.whenDone()

    const random = seededRandom(SEED)
    const firstAt = Math.ceil(preciseNow()) + LEAD_MS
    // Whole milliseconds: nobody can be asked for less.
    const orders = Array.from({ length: delayed }, () => ({ url, dueAt: firstAt + Math.floor(random() * spreadMs) }))
    contender.forgetOverhead?.()
    await contender.addMany(orders)
    const { latenessMs } = await all!
    await contender.whenDone()
    const overheadP99Ms = contender.overheadP99Ms?.()

    await contender.close()
    await sink.stop()
    return {
      p99Ms: latenessMs.p99,
      p50Ms: latenessMs.p50,
      ...(overheadP99Ms !== undefined && { overheadP99Ms }),
    }
  },
}
