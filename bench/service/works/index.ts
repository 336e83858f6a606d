import { deadLane } from './dead-lane.ts'
import { fresh, random } from './depth.ts'
import { drain } from './drain.ts'
import { enqueue } from './enqueue.ts'
import { events } from './events.ts'
import { intake } from './intake.ts'
import { keys } from './keys.ts'
import { lateness } from './lateness.ts'
import { lists } from './lists.ts'
import { replay } from './replay.ts'
import { startUp } from './start-up.ts'
import type { ServiceWork } from './work.ts'

export const WORKS: readonly ServiceWork[] = [
  drain,
  events,
  enqueue,
  intake,
  keys,
  lateness,
  replay,
  lists,
  fresh,
  random,
  deadLane,
  startUp,
]
