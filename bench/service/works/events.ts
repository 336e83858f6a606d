import { rmSync } from 'node:fs'
import { startListeners } from '../listeners.ts'
import { openService } from '../ours/service.ts'
import { startSink } from '../sink.ts'
import { newFolder, preciseNow, sized } from '../world.ts'
import type { ServiceWork } from './work.ts'

const SIZES = {
  full: { warmUp: 30_000, measured: 40_000 },
  quick: { warmUp: 6_000, measured: 6_000 },
}
const LISTENERS = 200

export const events: ServiceWork = {
  id: 'events',
  title: 'the drain, while 200 listen to every event of it',
  contenders: ['secondwind', 'without'],
  leastRounds: 7,
  figures: [
    { key: 'tasksPerSecond', label: 'tasks per second', moreIsBetter: true },
    { key: 'cpuMicrosPerTask', label: 'CPU µs per task, of the service' },
    { key: 'heardKbPerSecond', label: 'KB per second and listener', moreIsBetter: true },
  ],
  bars: [{ figure: 'tasksPerSecond', sign: '≥', limit: 0.9, times: 'without' }],
  run: async (contender, world) => {
    const { warmUp, measured } = sized(world, SIZES)
    const folder = newFolder(world)
    const [sink, service] = await Promise.all([startSink(), openService(folder)])
    await service.addMany(Array.from({ length: warmUp + measured }, () => ({ url: sink.urls[0]! })))
    const [warm, all] = await sink.watch([warmUp, warmUp + measured])
    await service.start()
    // They come while it warms up.
    const listeners = await startListeners(service.url(), contender === 'without' ? 0 : LISTENERS)
    const begun = await warm!
    const cpuBegun = process.cpuUsage()
    const bytesBegun = await listeners.bytes()
    await all!
    await service.whenDone()
    const elapsedMs = preciseNow() - begun.at
    const { user, system } = process.cpuUsage(cpuBegun)
    const heardBytes = (await listeners.bytes()) - bytesBegun

    await listeners.stop()
    await service.close()
    await sink.stop()
    rmSync(folder, { recursive: true })
    return {
      tasksPerSecond: (measured * 1_000) / elapsedMs,
      cpuMicrosPerTask: (user + system) / measured,
      heardKbPerSecond: heardBytes / elapsedMs / LISTENERS,
    }
  },
}
