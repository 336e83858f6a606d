import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'

/** What the runner hands to each lap, as JSON. */
export interface World {
  /** Absent when no contender of this run needs it. */
  readonly redisUrl?: string
  readonly postgresUrl?: string
  /** On the disk that is measured; what a work prepared lies here. */
  readonly folder: string
  /** When this run began. */
  readonly startedAt: number
  /** Small numbers, to see that everything runs. */
  readonly isQuick: boolean
}

/** A work's sizes: those that prove something, or those that take seconds. */
export function sized<Sizes>({ isQuick }: World, sizes: { readonly full: Sizes; readonly quick: Sizes }): Sizes {
  return isQuick ? sizes.quick : sizes.full
}

/** For one lap; whoever asks for it removes it. */
export function newFolder({ folder }: World): string {
  return mkdtempSync(join(folder, 'lap-'))
}

/** Milliseconds since the epoch with their fractions, comparable between processes of one machine. */
export function preciseNow(): number {
  return performance.timeOrigin + performance.now()
}
