/** Where tasks and their large bodies are kept, opened as the configuration says. */
import { systemClock, type Clock } from '@secondwind/resilience'
import { join, resolve } from 'node:path'
import type { BodyStore } from './bodies/body-store.ts'
import { openDirectoryBodies } from './bodies/directory/directory-bodies.ts'
import { openMemoryBodies } from './bodies/memory/memory-bodies.ts'
import type { ServiceConfig } from './config.ts'
import { StartFailure } from './start-failure.ts'
import { writeHolder } from './stores/sqlite/holder.ts'
import { FORMAT } from './stores/sqlite/schema.ts'
import { openMemoryStore, openSqliteStore } from './stores/sqlite/sqlite-store.ts'
import { uptimeMs } from './stores/store-clock.ts'
import { StoreUnavailableError, type Store } from './stores/store.ts'
import { DiskFloor, spaceAt } from './upkeep/disk-floor.ts'

/** Beside the data file. */
export const BODIES_DIRECTORY = 'bodies'

export async function openStore(config: ServiceConfig): Promise<Store> {
  if (config.store === 'memory') return openMemoryStore({ clock: systemClock, bootMs: uptimeMs })
  try {
    return await openSqliteStore({ directory: config.data })
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error
    const what = `the store in ${resolve(config.data)} cannot be opened`
    throw new StartFailure({ code: error.code, what, because: error.message, cause: error })
  }
}

/** Beside the store's own file, so that one directory is all there is. */
export async function openBodies(
  { store: kind, data }: ServiceConfig,
  store: Store,
  floor: DiskFloor | undefined,
): Promise<BodyStore> {
  if (kind === 'memory') return openMemoryBodies({ clock: systemClock })
  try {
    return await openDirectoryBodies({ directory: join(data, BODIES_DIRECTORY), ...(floor && { floor }) })
  } catch (error) {
    await store.close()
    if (!(error instanceof StoreUnavailableError)) throw error
    const what = `the bodies in ${resolve(data)} cannot be opened`
    throw new StartFailure({ code: error.code, what, because: error.message, cause: error })
  }
}

/** A store in memory has no disk. */
export function diskFloorOf({ store, data }: ServiceConfig, clock: Clock): DiskFloor | undefined {
  return store === 'memory' ? undefined : new DiskFloor({ look: () => spaceAt(data), clock })
}

/** In words. */
export function sayStore({ store, data }: ServiceConfig): string {
  return store === 'memory' ? 'in memory: lost when the service ends' : resolve(data)
}

/** Of the data file; nothing is kept of what is in memory. */
export function formatOf({ store }: ServiceConfig): number | undefined {
  return store === 'memory' ? undefined : FORMAT
}

/** Says beside the lock where its holder answers, so that whoever finds the directory taken finds the service, too. */
export function announce({ store, data }: ServiceConfig, { url, instance }: { url: string; instance: string }): void {
  if (store === 'sqlite') writeHolder(data, { pid: process.pid, url, instance })
}
