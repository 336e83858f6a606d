/** Ours: every task is checked, and on the disk before it is answered. */
import { rmSync } from 'node:fs'
import { serve } from '../ours/service.ts'
import { newFolder } from '../world.ts'
import type { OpenIntake } from './intake.ts'

export const open: OpenIntake = async world => {
  const folder = newFolder(world)
  const service = await serve(folder)
  const close = async (): Promise<void> => {
    await service.stop()
    rmSync(folder, { recursive: true })
  }
  return { url: `${service.url}/retry-tasks`, close }
}
