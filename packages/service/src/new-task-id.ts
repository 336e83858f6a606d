import type { Random } from '@secondwind/resilience'
import { laneKey, partitionOf, type Lane } from './task/lane.ts'
import { TASK_ID_BYTES, taskIdOf } from './task/task-id.ts'

/** Filled anew for every id, and read before anybody else can be here. */
const randomBytes = new Uint8Array(TASK_ID_BYTES)

export function newTaskId(lane: Lane, now: number, random: Random): string {
  for (let at = 0; at < TASK_ID_BYTES; at++) randomBytes[at] = Math.floor(random() * 256)
  return taskIdOf(now, partitionOf(laneKey(lane)), randomBytes)
}
