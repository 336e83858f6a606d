import type { Order } from '../delivery.ts'
import type { World } from '../world.ts'

/** One file per contender exports its `open`: an empty store, and workers that do not work yet. */
export type Open = (world: World) => Promise<Contender>

export interface Contender {
  /** One task, by one caller; kept as safely as this contender keeps anything when the promise is. */
  add(order: Order): Promise<unknown>
  /** Very many, in its own fastest way; preparation, never measured. */
  addMany(orders: readonly Order[]): Promise<void>
  /** Begins to deliver what is due, a hundred at a time. */
  start(): Promise<void>
  /** Until its store, asked again and again, knows of no task that is not done. */
  whenDone(): Promise<void>
  /** The 99th percentile of what it says that it added to each attempt itself, since it was last told to forget. */
  overheadP99Ms?(): number
  forgetOverhead?(): void
  close(): Promise<void>
}

/** Only this contender is loaded: another one's code would share its caches and its heap. */
export async function load(name: string): Promise<Open> {
  const { open }: { open: Open } = await import(`./${name}.ts`)
  return open
}
