/** What lists and groups cost among a million tasks, beside ten thousand. */
import { join } from 'node:path'
import type { TaskFilter } from '../../../packages/service/dist/stores/task-store.js'
import { quantile } from '../../statistics.ts'
import { buryAll, openStore, type Store } from '../ours/store.ts'
import { TENANT } from '../ours/tasks.ts'
import { sized, type World } from '../world.ts'
import type { ServiceWork } from './work.ts'

const SIZES = {
  full: { tasks: { secondwind: 1_000_000, 'ten-thousand': 10_000 }, asks: 200 },
  quick: { tasks: { secondwind: 50_000, 'ten-thousand': 5_000 }, asks: 20 },
}
const URLS = Array.from({ length: 20 }, (_, n) => `http://127.0.0.1:${9_000 + n}/`)
const LIMIT = 50

interface Look {
  readonly key: string
  readonly label: string
  readonly read: (store: Store, span: Span) => Promise<unknown>
}

/** When the tasks were created, and died. */
interface Span {
  readonly from: number
  readonly to: number
}

const list =
  (filterOf: (span: Span) => Omit<TaskFilter, 'tenant'>) =>
  (store: Store, span: Span): Promise<unknown> =>
    store.list({ filter: { tenant: TENANT, ...filterOf(span) }, limit: LIMIT })

const middle = ({ from, to }: Span): number => Math.floor((from + to) / 2)
const DESTINATION = new URL(URLS[7]!).origin

const LOOKS: readonly Look[] = [
  { key: 'allMicros', label: 'all tasks, µs', read: list(() => ({})) },
  { key: 'deadMicros', label: 'dead letters, µs', read: list(() => ({ status: 'EXHAUSTED' })) },
  { key: 'ofLaneMicros', label: 'of a destination, µs', read: list(() => ({ destination: DESTINATION })) },
  { key: 'createdMicros', label: 'created before, µs', read: list(span => ({ createdTo: middle(span) })) },
  { key: 'endedMicros', label: 'dead before, µs', read: list(span => ({ endedTo: middle(span) })) },
  { key: 'causesMicros', label: 'causes, µs', read: store => store.causes({ tenant: TENANT, limit: LIMIT }) },
  {
    key: 'oldestDeadMicros',
    label: 'the oldest dead letters, µs',
    read: store => store.deadLetters({ filter: { tenant: TENANT, destination: DESTINATION }, limit: LIMIT }),
  },
]

export const lists: ServiceWork = {
  id: 'lists',
  title: 'pages of 50 among 1,000,000 dead letters of 20 destinations',
  contenders: ['secondwind', 'ten-thousand'],
  figures: LOOKS.map(({ key, label }) => ({ key, label })),
  bars: LOOKS.map(({ key }) => ({ figure: key, sign: '≤', limit: 3, times: 'ten-thousand' }) as const),
  async prepare(world) {
    for (const [contender, count] of Object.entries(sized(world, SIZES).tasks)) {
      const store = await openStore(folderOf(contender, world))
      const { tasks } = await store.counters()
      if (tasks.EXHAUSTED === 0) for (const url of URLS) await buryAll(store, url, count / URLS.length)
      await store.close()
    }
  },
  async run(contender, world) {
    const { asks } = sized(world, SIZES)
    const store = await openStore(folderOf(contender, world))
    const span = await spanOf(store)
    const figures: { [key: string]: number } = {}
    for (const { key, read } of LOOKS) {
      for (let warm = 0; warm < asks / 10; warm++) await read(store, span)
      const micros: number[] = []
      for (let n = 0; n < asks; n++) {
        const begunAt = performance.now()
        await read(store, span)
        micros.push((performance.now() - begunAt) * 1_000)
      }
      // The median: a page that waited for its turn on the processor says nothing about the list.
      figures[key] = quantile(
        micros.toSorted((one, other) => one - other),
        0.5,
      )
    }
    await store.close()
    return figures
  },
}

function folderOf(contender: string, { folder }: World): string {
  return join(folder, `lists-${contender}`)
}

async function spanOf(store: Store): Promise<Span> {
  const filter = { tenant: TENANT }
  const [oldest] = (await store.deadLetters({ filter, limit: 1 })).items
  const [newest] = (await store.list({ filter, limit: 1 })).items
  return { from: oldest!.endedAt, to: newest!.createdAt }
}
