import type { TaskFilter, TaskStatus } from '@secondwind/client'
import type { Argument, GivenOptions, Option } from '../command.ts'
import { given } from '../input/given.ts'
import { instant } from '../input/read-instant.ts'
import { oneOf, optional, readOptions, text, wholeNumber } from '../input/read-options.ts'

export const TASK_ARGUMENT: Argument = { usage: '<taskId>', say: 'the id of a task' }

const STATUSES: readonly TaskStatus[] = ['PENDING', 'IN_FLIGHT', 'SUCCEEDED', 'EXHAUSTED', 'CANCELLED']

/** Which tasks; all that is given must hold. */
export const FILTER_OPTIONS: readonly Option[] = [
  { flag: '--status <status>', say: 'in this status', choices: STATUSES },
  { flag: '--destination <origin>', say: 'for this destination' },
  { flag: '--policy-id <name>', say: 'by this policy; inline: by one of their own' },
  { flag: '--attempt-from <number>', say: 'with at least so many attempts made' },
  { flag: '--error-code <code>', say: 'whose newest attempt ended like this, such as http-503' },
  { flag: '--created-from <time>', say: 'not older than 2h, or from 2026-11-16T02:00:00Z on' },
  { flag: '--created-to <time>', say: 'older than that' },
]

export function readFilter(options: GivenOptions, now: number): TaskFilter {
  const filter = readOptions(options, {
    status: optional(oneOf(...STATUSES)),
    destination: optional(text()),
    policyId: optional(text()),
    attemptFrom: optional(wholeNumber(0, 10_000)),
    errorCode: optional(text()),
    createdFrom: optional(instant(now, 'ago')),
    createdTo: optional(instant(now, 'ago')),
  })
  return given(filter)
}
