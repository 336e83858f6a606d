import { join } from 'node:path'
import { seededRandom } from '../../statistics.ts'
import { openService } from '../ours/service.ts'
import { fill } from '../ours/store.ts'
import { newTask } from '../ours/tasks.ts'
import { startSink } from '../sink.ts'
import { preciseNow, sized, type World } from '../world.ts'
import type { ServiceWork } from './work.ts'

const SIZES = {
  full: { dead: 1_000_000, warmUp: 10_000, drained: 30_000, delayed: 5_000, spreadMs: 5_000 },
  quick: { dead: 10_000, warmUp: 1_000, drained: 3_000, delayed: 500, spreadMs: 1_000 },
}
const HEALTHY = 100
/** Nobody listens there: every call is refused at once. */
const DEAD_URL = 'http://127.0.0.1:9/'
const LEAD_MS = 2_000
const SEED = 23

export const deadLane: ServiceWork = {
  id: 'dead-lane',
  title: '1,000,000 due tasks for a dead destination, beside 100 healthy ones',
  contenders: ['secondwind', 'without'],
  leastRounds: 7,
  figures: [
    { key: 'tasksPerSecond', label: 'healthy tasks per second', moreIsBetter: true },
    { key: 'p99Ms', label: 'healthy lateness p99, ms' },
    { key: 'p50Ms', label: 'healthy lateness p50, ms' },
  ],
  bars: [],
  prepare: async world => {
    const now = world.startedAt
    await fill(folderOf('secondwind', world), sized(world, SIZES).dead, number =>
      newTask({ url: DEAD_URL, now, key: `dead-${number}` }),
    )
    await fill(folderOf('without', world), 0, () => newTask({ url: DEAD_URL, now }))
  },
  run: async (contender, world) => {
    const { warmUp, drained, delayed, spreadMs } = sized(world, SIZES)
    const [sink, service] = await Promise.all([startSink(HEALTHY), openService(folderOf(contender, world))])
    const urlOf = (number: number): string => sink.urls[number % HEALTHY]!
    const [warm, all, late] = await sink.watch([warmUp, warmUp + drained, warmUp + drained + delayed])
    await service.addMany(Array.from({ length: warmUp + drained }, (_, number) => ({ url: urlOf(number) })))
    await service.start()
    const begun = await warm!
    await all!
    await service.whenDone()
    const elapsedMs = preciseNow() - begun.at

    const random = seededRandom(SEED)
    const firstAt = Math.ceil(preciseNow()) + LEAD_MS
    const orders = Array.from({ length: delayed }, (_, number) => ({
      url: urlOf(number),
      dueAt: firstAt + Math.floor(random() * spreadMs),
    }))
    await service.addMany(orders)
    const { latenessMs } = await late!
    await service.whenDone()

    await service.close()
    await sink.stop()
    return { tasksPerSecond: (drained * 1_000) / elapsedMs, p99Ms: latenessMs.p99, p50Ms: latenessMs.p50 }
  },
}

function folderOf(contender: string, { folder }: World): string {
  return join(folder, `dead-lane-${contender}`)
}
