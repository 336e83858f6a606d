import { join } from 'node:path'
import { serveUntilReady } from '../ours/serve.ts'
import { fill } from '../ours/store.ts'
import { newTask } from '../ours/tasks.ts'
import { sized, type World } from '../world.ts'
import type { ServiceWork } from './work.ts'

const SIZES = {
  full: { secondwind: 1_000_000, empty: 0 },
  quick: { secondwind: 10_000, empty: 0 },
}
const DESTINATIONS = 1_000
const DAY_MS = 86_400_000

export const startUp: ServiceWork = {
  id: 'start-up',
  title: '`secondwind serve` on 1,000,000 waiting tasks of 1,000 destinations, until it is ready',
  contenders: ['secondwind', 'empty'],
  figures: [
    { key: 'readyMs', label: 'ms until ready' },
    { key: 'residentMb', label: 'memory of the process, MB' },
  ],
  bars: [],
  prepare: async world => {
    const now = world.startedAt
    for (const [contender, count] of Object.entries(sized(world, SIZES)))
      await fill(folderOf(contender, world), count, number => {
        const url = `http://d${number % DESTINATIONS}.example/`
        // Not before tomorrow: this is about those who wait.
        return newTask({ url, now, dueAt: now + DAY_MS + number, key: `waiting-${number}` })
      })
  },
  run: async (contender, world) => serveUntilReady(folderOf(contender, world)),
}

function folderOf(contender: string, { folder }: World): string {
  return join(folder, `start-up-${contender}`)
}
