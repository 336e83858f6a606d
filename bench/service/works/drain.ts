import { load } from '../contenders/contender.ts'
import { startSink } from '../sink.ts'
import { preciseNow, sized } from '../world.ts'
import type { ServiceWork } from './work.ts'

const SIZES = {
  full: { warmUp: 30_000, measured: 40_000 },
  quick: { warmUp: 3_000, measured: 4_000 },
}

export const drain: ServiceWork = {
  id: 'drain',
  title: '40,000 due tasks, each a POST to a sink, 100 at once, completion kept',
  contenders: ['secondwind', 'before', 'bullmq', 'pg-boss', 'graphile-worker', 'undici'],
  figures: [
    { key: 'tasksPerSecond', label: 'tasks per second', moreIsBetter: true },
    { key: 'cpuMicrosPerTask', label: 'CPU µs per task, servers aside' },
  ],
  bars: [
    { figure: 'tasksPerSecond', sign: '≥', limit: 1.5, times: 'bullmq' },
    { figure: 'tasksPerSecond', sign: '≥', limit: 2, times: 'bullmq', isGoal: true },
  ],
  run: async (name, world) => {
    const { warmUp, measured } = sized(world, SIZES)
    const open = await load(name)
    const [sink, contender] = await Promise.all([startSink(), open(world)])
    await contender.addMany(Array.from({ length: warmUp + measured }, () => ({ url: sink.urls[0]! })))

    // One stream of tasks: where the warm-up ends nobody stops, and the clock begins.
    const [warm, all] = await sink.watch([warmUp, warmUp + measured])
    await contender.start()
    const begun = await warm!
    const cpuBegun = process.cpuUsage()
    await all!
    await contender.whenDone()
    const elapsedMs = preciseNow() - begun.at
    const { user, system } = process.cpuUsage(cpuBegun)

    await contender.close()
    await sink.stop()
    return { tasksPerSecond: (measured * 1_000) / elapsedMs, cpuMicrosPerTask: (user + system) / measured }
  },
}
