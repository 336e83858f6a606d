/**
 * Tenants write what operators read: a reason, a header, a name may hold line breaks and what steers a terminal, and would
 * stand on a page as a line of this program's own. So every text of an answer is made visible before any command has it,
 * and none can forget to. Documents for other programs are told apart from their values by JSON and CSV themselves.
 */
import type { CapturedResponse, Client } from '@secondwind/client'
import type { GivenOptions } from '../command.ts'
import { inOneLine, visible } from '../terminal/visible.ts'

/** The client whose answers can be written on a page, or as they are where the whole answer goes to other programs. */
export function withVisibleAnswers(client: Client, options: GivenOptions): Client {
  return QUOTING.some(option => options[option] === true) ? client : seen(client)
}

const QUOTING = ['json', 'ndjson', 'csv']

function seen<Value>(value: Value, owner?: object): Value
function seen(value: unknown, owner?: object): unknown {
  if (typeof value === 'string') return visible(value)
  if (typeof value === 'function') return (...given: unknown[]) => seen(value.apply(owner, given) as unknown)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Promise) return value.then(answer => seen(answer as unknown))
  if (Array.isArray(value)) return value.map(each => seen(each as unknown))
  if (isPlain(value)) return seenRecord(value)
  return Symbol.asyncIterator in value ? seenEach(value as AsyncIterable<unknown>) : value
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function seenRecord(given: object): object {
  const value = isCaptured(given) ? { ...given, body: inOneLine(given.body) } : given
  const parts = Reflect.ownKeys(value).map(name => {
    const part: unknown = value[name as keyof typeof value]
    return [typeof name === 'string' ? visible(name) : name, seen(part, value)]
  })
  return Object.fromEntries(parts) as object
}

/** What a target said has lines, and ends with one, as any text: they are no controls that have to be shown. */
function isCaptured(value: object): value is CapturedResponse {
  return 'bodyEncoding' in value && 'body' in value && typeof value.body === 'string'
}

async function* seenEach(values: AsyncIterable<unknown>): AsyncGenerator {
  for await (const each of values) yield seen(each)
}
