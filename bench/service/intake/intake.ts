import type { World } from '../world.ts'

/** A server that takes tasks in. */
export interface Intake {
  readonly url: string
  close(): Promise<void>
}

export type OpenIntake = (world: World) => Promise<Intake>
