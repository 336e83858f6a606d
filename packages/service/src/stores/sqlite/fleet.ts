/**
 * Who is alive, who serves what, and what stewards remember of their lanes. The file belongs to one process, and so does the
 * fleet: it lives in memory and has no part in transactions. Memories are in the file.
 */
import { partitionOf } from '../../task/lane.ts'
import type { Beat, Fleet, Remember, Steward, Take } from '../store.ts'
import type { Writer } from './writer.ts'

export interface Stewards {
  beat(instance: string, now: number): Pick<Fleet, 'beats' | 'stewards'>
  take(ask: Take, now: number): boolean
  give(ask: { readonly partition: number; readonly steward: string }): boolean
  isSteward(partition: number, token: string): boolean
  /** Whether the partition's steward took it after this instant, or there is none. */
  hasChangedSince(partition: number, instant: number): boolean
}

/** An instance that has not beaten for an hour is forgotten; under its old name it would begin at 1 again. */
const FORGOTTEN_AFTER_MS = 3_600_000

export function createStewards(): Stewards {
  const beats = new Map<string, { count: number; lastAt: number }>()
  const stewards = new Map<number, Steward & { readonly takenAt: number }>()
  const isSteward = (partition: number, token: string): boolean => stewards.get(partition)?.token === token

  return {
    isSteward,
    hasChangedSince: (partition, instant) => (stewards.get(partition)?.takenAt ?? Infinity) >= instant,
    beat(instance, now) {
      beats.set(instance, { count: (beats.get(instance)?.count ?? 0) + 1, lastAt: now })
      for (const [name, { lastAt }] of beats) if (now - lastAt > FORGOTTEN_AFTER_MS) beats.delete(name)
      return {
        beats: [...beats].map(([name, { count }]) => ({ instance: name, count })),
        stewards: [...stewards.values()].map(({ partition, instance: by, token }) => ({
          partition,
          instance: by,
          token,
        })),
      }
    },
    take({ partition, instance, token, from }, now) {
      // A take whose answer was lost is asked again with its own token.
      if (isSteward(partition, token)) return true
      if ((stewards.get(partition)?.token ?? null) !== from) return false
      stewards.set(partition, { partition, instance, token, takenAt: now })
      return true
    },
    give: ({ partition, steward }) => isSteward(partition, steward) && stewards.delete(partition),
  }
}

export interface FleetVerbs {
  beat(ask: Beat): Fleet
  take(ask: Take): boolean
  give(ask: { readonly partition: number; readonly steward: string }): boolean
  remember(ask: Remember): boolean
}

export function fleetVerbs(writer: Writer): FleetVerbs {
  const { connection, stewards, lanes } = writer
  const write = connection.write('insert or replace into memory (partition, lane, memory) values (?, ?, ?)')
  return {
    beat: ({ instance, largeFrom }) => ({
      ...stewards.beat(instance, writer.now),
      recordsVersion: writer.recordsVersion,
      waiting: lanes.waiting(largeFrom),
    }),
    take: ask => stewards.take(ask, writer.now),
    give: ask => stewards.give(ask),
    remember({ partition, steward, lanes: records }) {
      if (!stewards.isSteward(partition, steward)) return false
      for (const { lane, memory } of records)
        if (partitionOf(lane) === partition) write(partition, lane, JSON.stringify(memory))
      return true
    },
  }
}
