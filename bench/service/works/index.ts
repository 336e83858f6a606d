import { deadLane } from './dead-lane.ts'
import { fresh, random } from './depth.ts'
import { drain } from './drain.ts'
import { enqueue } from './enqueue.ts'
import { intake } from './intake.ts'
import { lateness } from './lateness.ts'
import { startUp } from './start-up.ts'
import type { ServiceWork } from './work.ts'

export const WORKS: readonly ServiceWork[] = [drain, enqueue, intake, lateness, fresh, random, deadLane, startUp]
