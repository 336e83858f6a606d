import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { OpenedStore, StoreOptions } from '../exam/exam.test-kit.ts'
import { openMemoryStore, openSqliteStore } from './sqlite-store.ts'

// Each store starts threads, and each thread would read its modules from sources anew.
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'secondwind-compiled')

/** A directory that is gone after the test. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'secondwind-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** An empty store, as exams and histories want it. */
export function openTemporarySqliteStore(options: StoreOptions): Promise<OpenedStore> {
  return openIn(temporaryDirectory(), options)
}

/** The store in the directory, or an empty one. */
export async function openIn(directory: string, { clock }: StoreOptions): Promise<OpenedStore> {
  const store = await openSqliteStore({ directory, clock })
  return {
    store,
    async reopen(next) {
      await store.close()
      return openIn(directory, next)
    },
  }
}

export function openInMemory({ clock }: StoreOptions): Promise<OpenedStore> {
  return Promise.resolve({ store: openMemoryStore({ clock }) })
}
