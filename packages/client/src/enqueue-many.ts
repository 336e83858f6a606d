import { newIdempotencyKey } from '@secondwind/resilience'
import type { InvalidOptionError } from '@secondwind/resilience/fetch'
import { check } from '@secondwind/resilience/rules'
import type { Call, Caller } from './caller.ts'
import { refusal, refuse } from './check/fields.ts'
import { problemsOfTask } from './check/task.ts'
import { ServiceError } from './errors.ts'
import type { BatchItem, BatchResult } from './wire/batch.ts'
import type { RetryTaskInput } from './wire/task.ts'

/** What became of one task of many. Send it again with its key, if you like: it is there once at most. */
export type EnqueueResult = EnqueueEnd & {
  /** Where it stood in the list; the first is 0. */
  readonly index: number
  /** Its own, or the one that was made for it. */
  readonly idempotencyKey: string
}

export type EnqueueEnd =
  /** `existing`: the same request with the same key had come before. */
  | { readonly result: 'created' | 'existing'; readonly taskId: string }
  /** It was not taken. */
  | { readonly result: 'refused'; readonly error: ServiceError | InvalidOptionError }
  /** No answer came: perhaps it was taken, perhaps not even sent. */
  | { readonly result: 'unanswered'; readonly error: unknown }

/** Half of what the service takes at once, so that nobody else waits long behind one of them. */
const MOST_ITEMS = 500
const MOST_BYTES = 4_194_304

const PATH = '/retry-tasks/batch'

/** Chunk after chunk; one that nobody answers is the last that is sent. */
export async function enqueueMany(
  caller: Caller,
  tasks: readonly RetryTaskInput[],
  { signal }: Call,
): Promise<EnqueueResult[]> {
  if (!Array.isArray(tasks)) refuse('the tasks cannot be enqueued', [{ at: '', is: tasks, say: 'must be a list' }])
  const keys = tasks.map(task => keyOf(task))
  const ends = new Map<number, EnqueueEnd>()
  let failure: EnqueueEnd | undefined

  const send = async (chunk: readonly Item[]): Promise<void> => {
    const body = `[${chunk.map(({ json }) => json).join(',')}]`
    try {
      // Every item has a key: the whole may be repeated.
      const asked = { method: 'POST', mark: 'items', path: PATH, body, idempotent: true, signal } as const
      const { items } = await caller.ask<BatchResult>(asked)
      chunk.forEach(({ index }, place) => ends.set(index, endOf(items[place])))
    } catch (error) {
      if (signal?.aborted || caller.signal?.aborted) throw error
      if (isTooLarge(error) && chunk.length > 1) return sendHalves(chunk)
      failure = failureOf(error)
      chunk.forEach(({ index }) => ends.set(index, failure!))
      // It alone is too large; the others are not.
      if (isTooLarge(error)) failure = undefined
    }
  }
  const sendHalves = async (chunk: readonly Item[]): Promise<void> => {
    const middle = chunk.length >> 1
    await send(chunk.slice(0, middle))
    if (failure === undefined) await send(chunk.slice(middle))
  }

  for (const chunk of chunksOf(soundItems(tasks, keys, ends))) {
    if (failure !== undefined) break
    await send(chunk)
  }
  return keys.map((idempotencyKey, index) => ({ index, idempotencyKey, ...(ends.get(index) ?? failure!) }))
}

interface Item {
  readonly index: number
  readonly json: string
}

/** Those that are worth sending; the others have their end at once. */
function* soundItems(
  tasks: readonly RetryTaskInput[],
  keys: readonly string[],
  ends: Map<number, EnqueueEnd>,
): Generator<Item> {
  for (const [index, task] of tasks.entries()) {
    const problems = problemsOfTask(task)
    if (problems.length === 0) yield { index, json: JSON.stringify({ ...task, idempotencyKey: keys[index] }) }
    else ends.set(index, { result: 'refused', error: refusal('the task cannot be enqueued', problems) })
  }
}

function* chunksOf(items: Iterable<Item>): Generator<Item[]> {
  const encoder = new TextEncoder()
  let chunk: Item[] = []
  let bytes = 0
  for (const item of items) {
    const itemBytes = encoder.encode(item.json).length + 1
    if (chunk.length > 0 && (chunk.length >= MOST_ITEMS || bytes + itemBytes > MOST_BYTES)) {
      yield chunk
      chunk = []
      bytes = 0
    }
    chunk.push(item)
    bytes += itemBytes
  }
  if (chunk.length > 0) yield chunk
}

function keyOf(task: unknown): string {
  const given = check.isRecord(task) ? task['idempotencyKey'] : undefined
  return typeof given === 'string' ? given : newIdempotencyKey()
}

function endOf(item: BatchItem | undefined): EnqueueEnd {
  if (item?.taskId !== undefined && item.result !== 'refused') return { result: item.result, taskId: item.taskId }
  const asked = `POST ${PATH}`
  if (item?.problem !== undefined) return { result: 'refused', error: new ServiceError({ ...item.problem, asked }) }
  const detail = 'The answer says nothing of this item.'
  return { result: 'unanswered', error: new ServiceError({ asked, status: 200, code: 'unexpected-answer', detail }) }
}

function isTooLarge(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.status === 413
}

function failureOf(error: unknown): EnqueueEnd {
  // A 5xx may come from somebody in between, after the service has done its part.
  const isRefusal = error instanceof ServiceError && error.status < 500
  return isRefusal ? { result: 'refused', error } : { result: 'unanswered', error }
}
