/**
 * How much a page may hold. A limit on rows is none on memory: tasks bring headers, metadata and bodies, attempts what was
 * answered, and two hundred of the largest of these are fifty megabytes, in each thread that they go through.
 */
import type { AcceptedTask, AttemptRow } from '../task/task.ts'

/** Some ten milliseconds of reading, sending and writing it down; a usual page has a hundredth of it. */
export const MOST_PAGE_BYTES = 8_388_608

/** What is read for each of these, as far as it fits: for one in any case, so that every page leads on. */
export function fitting<Key, Item>(
  keys: readonly Key[],
  read: (key: Key) => Item,
  bytesOf: (item: Item) => number,
): Item[] {
  const items: Item[] = []
  let left = MOST_PAGE_BYTES
  for (const key of keys) {
    const item = read(key)
    left -= bytesOf(item)
    if (left < 0 && items.length > 0) break
    items.push(item)
  }
  return items
}

/** What can be large of a task, as an answer has it, and its body, which no answer has but every reader. */
export function bytesOfTask({ request: { body, ...request }, metadata, policy, callbackUrl }: AcceptedTask): number {
  return (body?.length ?? 0) + bytesAsJson({ request, metadata, policy, callbackUrl })
}

export function bytesOfAttempt(attempt: AttemptRow): number {
  return bytesAsJson(attempt)
}

function bytesAsJson(value: object): number {
  return Buffer.byteLength(JSON.stringify(value))
}
