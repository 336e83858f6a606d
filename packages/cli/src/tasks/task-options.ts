import type { TaskFilter, TaskStatus } from '@secondwind/client'
import type { Problem } from '@secondwind/resilience'
import type { Argument, GivenOptions, Option } from '../command.ts'
import { given } from '../input/given.ts'
import { oneOf, optional, readOptions, text, wholeNumber } from '../input/read-options.ts'
import { WHICH_OPTIONS, whichReaders } from './which-tasks.ts'

export const TASK_ARGUMENT: Argument = {
  usage: '<taskId>',
  say: 'the id of a task, such as 01a1e2a2-09b8-7b02-87fa-57f25d3342be',
}

const STATUSES: readonly TaskStatus[] = ['PENDING', 'IN_FLIGHT', 'SUCCEEDED', 'EXHAUSTED', 'CANCELLED']

export const FILTER_OPTIONS: readonly Option[] = [
  { flag: '--status <status>', say: 'in this status', choices: STATUSES },
  { flag: '--attempt-from <number>', say: 'with at least so many attempts made' },
  { flag: '--idempotency-key <key>', say: 'the one that has this key' },
  ...WHICH_OPTIONS,
]

/** With what is wrong beside it. */
export function readFilter(options: GivenOptions, now: number, beside: readonly Problem[]): TaskFilter {
  const readers = {
    status: optional(oneOf(...STATUSES)),
    attemptFrom: optional(wholeNumber(0, 10_000)),
    idempotencyKey: optional(text()),
    ...whichReaders(now),
  }
  return given(readOptions(options, readers, beside))
}
