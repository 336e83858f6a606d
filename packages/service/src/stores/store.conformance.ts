/**
 * The exam that every store sits. Titles state the promises of the five ports (`store.ts`); read one after another they
 * say what the words of the ports mean. The ports leave these open, and the exam fixes them:
 *
 *  - `version` is 1 at first. It grows by one with each write that `get` shows: claim, settle, put-back, cancel (the second
 *    one changes nothing), attempt-now, replay, expire, recall.
 *  - A change that names a version is compared with it before all else, in the same step as it is written. A line of the
 *    audit is written only when something changed.
 *  - A settle (or put-back) with a token that settled last answers with what the task became then, whatever it asks now,
 *    as long as no newer lease exists.
 *  - A put-back heeds a cancel that was asked for: the task is `CANCELLED`, and nothing counts.
 *  - `since`, `createdFrom` and `endedFrom` are part of their range; `until`, `createdTo` and `endedTo` are not.
 *  - Tasks that died at one instant are in the order of their arrival.
 *  - Hints may come more often than necessary, and earlier. They never come later than the due instant that was written.
 *  - Ends to tell are kept in the partition of their task: in each partition the lanes of callbacks are in order of name.
 *  - Counts of a replay begin with the first task that it brings back, and end with its record. Its tasks that change
 *    after that begin no new ones.
 *  - A cause begins with its first dead letter and ends with its last. `firstAt` and `lastAt` are of all dead letters that
 *    it has had in between. Its samples are those that died first.
 *  - A first attempt is one whose `attemptNumber` is 1, in any generation.
 *  - After a sweep the counters of tasks follow. The counters of attempts stay until the lane goes.
 */
import { describe } from 'vitest'
import { examineAttempts } from './exam/attempts.conformance.ts'
import { examineAudit } from './exam/audit.conformance.ts'
import { examineBodies } from './exam/bodies.conformance.ts'
import { examineCallbacks } from './exam/callbacks.conformance.ts'
import { examineCauses } from './exam/causes.conformance.ts'
import { examineClaims } from './exam/claim.conformance.ts'
import { examineDeadLetters } from './exam/dead-letters.conformance.ts'
import { examineDurability } from './exam/durability.conformance.ts'
import { examineEveryTenant } from './exam/every-tenant.conformance.ts'
import type { OpenStore } from './exam/exam.test-kit.ts'
import { examineExpiring } from './exam/expire.conformance.ts'
import { examineFleet } from './exam/fleet.conformance.ts'
import { examineIntake } from './exam/intake.conformance.ts'
import { examineLanes } from './exam/lanes.conformance.ts'
import { examineLifetime } from './exam/lifetime.conformance.ts'
import { examineLimits } from './exam/limits.conformance.ts'
import { examineListing } from './exam/listing.conformance.ts'
import { examineLists } from './exam/list.conformance.ts'
import { examineOperators } from './exam/operators.conformance.ts'
import { examinePages } from './exam/pages.conformance.ts'
import { examinePutBacks } from './exam/put-back.conformance.ts'
import { examineRecalls } from './exam/recall.conformance.ts'
import { examineRecords } from './exam/records.conformance.ts'
import { examineReplays } from './exam/replays.conformance.ts'
import { examineSettles } from './exam/settle.conformance.ts'
import { examineSweeps } from './exam/sweep.conformance.ts'
import { examineVersions } from './exam/versions.conformance.ts'

/** In the order of the ports; at the end what holds of all of them. */
const SUITES: readonly ((open: OpenStore) => void)[] = [
  examineIntake,
  examineListing,
  examineClaims,
  examineLimits,
  examineSettles,
  examinePutBacks,
  examineExpiring,
  examineRecalls,
  examineOperators,
  examineVersions,
  examineReplays,
  examineCallbacks,
  examineFleet,
  examineRecords,
  examineAudit,
  examineLists,
  examineDeadLetters,
  examineAttempts,
  examineCauses,
  examineLanes,
  examineEveryTenant,
  examineSweeps,
  examineBodies,
  examinePages,
  examineLifetime,
  examineDurability,
]

export function describeStore(name: string, open: OpenStore): void {
  describe(`the ${name} store`, () => {
    for (const examine of SUITES) examine(open)
  })
}
