import type { Random } from '@secondwind/resilience'
import { TASK_ID_BYTES, taskIdOf } from '../../task/lane.ts'

/** A UUIDv7 for something that is no task: its last byte is any. */
export function newId(now: number, random: Random): string {
  const byte = (): number => Math.floor(random() * 256)
  return taskIdOf(now, byte(), Uint8Array.from({ length: TASK_ID_BYTES }, byte))
}
