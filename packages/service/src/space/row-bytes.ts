/** About what rows take: all that is long, and something for the rest. */
import type { Claim } from '../stores/task-store.ts'
import type { NewTask } from '../task/accept.ts'
import type { Settlement } from '../task/settle.ts'

/** Of a row without what is long in it, with its indexes. */
export const ROW_BYTES = 1_024

export function bytesOfNew(tasks: readonly NewTask[]): number {
  let bytes = 0
  for (const task of tasks) bytes += ROW_BYTES + bytesOfTask(task)
  return bytes
}

/** Taken in thousands of times a second: what HTTP has written is counted by characters, and only the rest is written down. */
function bytesOfTask({ request, metadata, policy, callbackUrl = '' }: NewTask): number {
  const { targetUrl, headers, body } = request
  const written = targetUrl.length + callbackUrl.length + bytesOfHeaders(headers) + (body?.length ?? 0)
  return metadata === undefined && policy === undefined ? written : written + bytesAsJson({ metadata, policy })
}

/** Of an order without what is written in it: a record, and a line of the audit. */
const ORDER_BYTES = 2 * ROW_BYTES

export function bytesOfOrder(ask: object = {}): number {
  return ORDER_BYTES + bytesAsJson(ask)
}

function bytesAsJson(value: object): number {
  return Buffer.byteLength(JSON.stringify(value))
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
  return answer === undefined ? 0 : answer.body.length + bytesOfHeaders(answer.headers)
}

function bytesOfHeaders(headers: { readonly [name: string]: string }): number {
  let bytes = 0
  for (const name in headers) bytes += name.length + headers[name]!.length
  return bytes
}
