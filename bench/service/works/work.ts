import type { Figures, Work } from '../../work.ts'
import type { World } from '../world.ts'

/** A work of the service: `prepare` and `run` happen in processes of their own. */
export interface ServiceWork extends Work {
  /** Makes what takes long and serves all laps; once, before the first. */
  readonly prepare?: (world: World) => Promise<void>
  readonly run: (contender: string, world: World) => Promise<Figures>
}
