import type { OpenIntake } from '../intake/intake.ts'
import { load } from '../intake/load.ts'
import { sized } from '../world.ts'
import type { ServiceWork } from './work.ts'

const SIZES = {
  full: { warmUpSeconds: 3, measuredSeconds: 8 },
  quick: { warmUpSeconds: 1, measuredSeconds: 2 },
}

export const intake: ServiceWork = {
  id: 'intake',
  title: 'POST /retry-tasks over 64 connections: checked, and kept before the answer',
  contenders: ['secondwind', 'before', 'bare'],
  figures: [
    { key: 'tasksPerSecond', label: 'tasks per second', moreIsBetter: true },
    { key: 'p99Ms', label: 'p99 of one request, ms' },
  ],
  bars: [
    { figure: 'tasksPerSecond', sign: '≥', limit: 0.32, times: 'bare' },
    { figure: 'tasksPerSecond', sign: '≥', limit: 0.5, times: 'bare', isGoal: true },
  ],
  run: async (name, world) => {
    const { warmUpSeconds, measuredSeconds } = sized(world, SIZES)
    // Only this one is loaded: the other would share its caches and its heap.
    const { open }: { open: OpenIntake } = await import(`../intake/${name}.ts`)
    const server = await open(world)
    const { url } = server
    await load({ url, seconds: warmUpSeconds, keyPrefix: 'warm-up' })
    const { perSecond, p99Ms } = await load({ url, seconds: measuredSeconds, keyPrefix: 'measured' })
    await server.close()
    return { tasksPerSecond: perSecond, p99Ms }
  },
}
