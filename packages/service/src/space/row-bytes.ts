/** About what rows take: all that is long, and something for the rest. */
import { bytesOfTask } from '../stores/page-bytes.ts'
import type { Claim } from '../stores/task-store.ts'
import type { NewTask } from '../task/accept.ts'
import type { Settlement } from '../task/settle.ts'

/** Of a row without what is long in it, with its indexes. */
export const ROW_BYTES = 1_024

export function bytesOfNew(tasks: readonly NewTask[]): number {
  return tasks.reduce((sum, task) => sum + ROW_BYTES + bytesOfTask(task), 0)
}

/** Of an order without what is written in it: a record, and a line of the audit. */
const ORDER_BYTES = 2 * ROW_BYTES

export function bytesOfOrder(ask: object = {}): number {
  return ORDER_BYTES + Buffer.byteLength(JSON.stringify(ask))
}

/** A lease for each task that it may take. */
export function bytesOfClaim({ asks }: Claim): number {
  return asks.reduce((sum, { count }) => sum + count * ROW_BYTES, 0)
}

export function bytesOfEnds(settlements: readonly Settlement[]): number {
  return settlements.reduce((sum, { attempt }) => sum + ROW_BYTES + bytesOfAnswer(attempt?.response), 0)
}

type Answer = NonNullable<NonNullable<Settlement['attempt']>['response']>

/** Settled thousands of times a second: counted by characters, and not written down for it. */
function bytesOfAnswer(answer: Answer | undefined): number {
  if (answer === undefined) return 0
  let bytes = answer.body.length
  for (const name in answer.headers) bytes += name.length + answer.headers[name]!.length
  return bytes
}
