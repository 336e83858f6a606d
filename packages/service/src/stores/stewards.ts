import type { Fleet, Steward, Take } from './task-store.ts'

/**
 * Who is alive and who serves what, for stores that belong to one process: such a fleet ends with it, so that memory is
 * the right place. The words mean what they mean in `TaskStore`.
 */
export interface Stewards {
  beat(instance: string, now: number): Omit<Fleet, 'recordsVersion'>
  take(ask: Take): boolean
  give(ask: { readonly partition: number; readonly steward: string }): boolean
  isSteward(partition: number, token: string): boolean
}

/** Whoever has not beaten for an hour will not be missed; under its old name it would begin at 1 again. */
const FORGOTTEN_AFTER_MS = 3_600_000

export function createStewards(): Stewards {
  const beats = new Map<string, { count: number; lastAt: number }>()
  const stewards = new Map<number, Steward>()
  const isSteward = (partition: number, token: string): boolean => stewards.get(partition)?.token === token

  return {
    isSteward,

    beat(instance, now) {
      beats.set(instance, { count: (beats.get(instance)?.count ?? 0) + 1, lastAt: now })
      for (const [name, { lastAt }] of beats) if (now - lastAt > FORGOTTEN_AFTER_MS) beats.delete(name)
      return {
        beats: [...beats].map(([name, { count }]) => ({ instance: name, count })),
        stewards: [...stewards.values()],
      }
    },

    take({ partition, instance, token, from }) {
      // A take whose answer was lost is asked again; its token is nobody else's.
      if (isSteward(partition, token)) return true
      if ((stewards.get(partition)?.token ?? null) !== from) return false
      stewards.set(partition, { partition, instance, token })
      return true
    },

    give: ({ partition, steward }) => isSteward(partition, steward) && stewards.delete(partition),
  }
}
