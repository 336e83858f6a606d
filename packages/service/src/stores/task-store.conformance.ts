/**
 * The exam that every store sits. Titles state the promises of `task-store.ts`; read one after another they say what its
 * words mean. What the port leaves open is fixed here:
 *
 *  - `version` is 1 at first and one more with each write that `get` shows: claim, release, settle, cancel (a second
 *    one changes nothing), attempt-now, replay, expire, recall.
 *  - A change that names a version is compared with it before all else, and in the same step as it is written.
 *  - A settle whose token has settled already answers with what the task became then, whatever it asks now, as long as
 *    no newer lease exists.
 *  - A release heeds a cancel that was asked for: the task is `CANCELLED`, and nothing counts.
 *  - A backlog that is full in several ways is answered as full in its lane, else in all, else in its tenant's share.
 *  - `createdFrom` and `endedFrom` are part of their range, `createdTo` and `endedTo` are not. A list goes by arrival, the
 *    newest first; dead letters the oldest first; attempts the first first; causes by count, then by id; lanes and
 *    policies by name.
 *  - Counts of a replay begin with the first task that it brings back. Its tasks that change after they were forgotten
 *    begin no new ones.
 *  - A cause is born with its first dead letter and ends with its last; `firstAt` and `lastAt` are of all that it has
 *    had in between.
 *  - A first attempt is one whose `attemptNumber` is 1, in any generation.
 *  - A sweep spares a task as long as its key has its window, so that a repeated request always finds its task; counters
 *    of tasks follow, counters of attempts stay.
 */
import { describe } from 'vitest'
import { examineBacklog } from './conformance/backlog.conformance.ts'
import { examineBodies } from './conformance/bodies.conformance.ts'
import { examineCallbacks } from './conformance/callbacks.conformance.ts'
import { examineClaims } from './conformance/claim.conformance.ts'
import { examineDurability } from './conformance/durability.conformance.ts'
import type { OpenStore } from './conformance/exam.test-kit.ts'
import { examineEveryTenant } from './conformance/every-tenant.conformance.ts'
import { examineFleet } from './conformance/fleet.conformance.ts'
import { examineIntake } from './conformance/intake.conformance.ts'
import { examineLanes } from './conformance/lanes.conformance.ts'
import { examineLargePages } from './conformance/large-pages.conformance.ts'
import { examineOperators } from './conformance/operators.conformance.ts'
import { examineReading } from './conformance/reading.conformance.ts'
import { examineRecalls } from './conformance/recall.conformance.ts'
import { examineRecords } from './conformance/records.conformance.ts'
import { examineReplays } from './conformance/replays.conformance.ts'
import { examineSettles } from './conformance/settle.conformance.ts'
import { examineStewardship } from './conformance/stewardship.conformance.ts'
import { examineUpkeep } from './conformance/upkeep.conformance.ts'
import { examineVersions } from './conformance/versions.conformance.ts'

export type { OpenedStore, OpenStore, StoreOptions } from './conformance/exam.test-kit.ts'

export function describeTaskStore(name: string, open: OpenStore): void {
  describe(`the ${name} store`, () => {
    examineIntake(open)
    examineBacklog(open)
    examineFleet(open)
    examineClaims(open)
    examineSettles(open)
    examineStewardship(open)
    examineRecalls(open)
    examineOperators(open)
    examineVersions(open)
    examineReplays(open)
    examineReading(open)
    examineLargePages(open)
    examineEveryTenant(open)
    examineRecords(open)
    examineCallbacks(open)
    examineBodies(open)
    examineUpkeep(open)
    examineLanes(open)
    examineDurability(open)
  })
}
