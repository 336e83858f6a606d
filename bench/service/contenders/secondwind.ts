/** Ours, on its embedded store: a commit is on the disk before it counts. */
import { rmSync } from 'node:fs'
import { openService } from '../ours/service.ts'
import { newFolder } from '../world.ts'
import type { Open } from './contender.ts'

export const open: Open = async world => {
  const folder = newFolder(world)
  const contender = await openService(folder)
  const close = async (): Promise<void> => {
    await contender.close()
    rmSync(folder, { recursive: true })
  }
  return { ...contender, close }
}
