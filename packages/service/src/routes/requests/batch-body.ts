/** A batch as it arrives: a list, or a line for each task. Its items are counted first, then read one by one. */
import type { FastifyInstance } from 'fastify'
import { Refusal } from '../answers/refusal.ts'
import { newSearch, notJson, readBodies, readDocument, textOf, type Search } from './json-body.ts'
import { createPace } from './pace.ts'

/** An item of a batch that is not even looked at: it harms no other. */
export class BadItem {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    this.refusal = refusal
  }
}

interface BatchLimits {
  /** How many items it may have. */
  readonly most: number
  /** Of one of them, as it arrives. */
  readonly itemBytes: number
}

/** To be called in a scope of its own: only there a line is a task. */
export function readBatches(api: FastifyInstance, limits: BatchLimits): void {
  const { most, itemBytes } = limits
  api.removeContentTypeParser('application/json')
  readBodies(api, 'application/json', bytes => readList(bytes, limits))
  readBodies(api, 'application/x-ndjson', bytes =>
    readItems(splitLines(bytes, most), { itemBytes, search: newSearch() }),
  )
}

/** A list that is no JSON is refused as a whole: nobody can say where its items end. */
async function readList(bytes: Buffer, { most, itemBytes }: BatchLimits): Promise<unknown> {
  const text = textOf(bytes)
  if (bytes[skipBlank(bytes, 0)] !== OPEN_LIST) return readDocument(text)
  const items = splitList(bytes, most)
  if (items === undefined) throw notJson(text, newSearch())
  const read = await readItems(items, { itemBytes, search: { left: 0 } })
  if (read.some(item => item instanceof BadItem && item.refusal.code === 'bad-json')) throw notJson(text, newSearch())
  return read
}

interface ItemReading {
  readonly itemBytes: number
  readonly search: Search
}

async function readItems(items: readonly Buffer[], reading: ItemReading): Promise<unknown[]> {
  const pace = createPace()
  const read: unknown[] = []
  for (const item of items) {
    read.push(readItem(item, reading))
    await pace(item.length)
  }
  return read
}

function readItem(item: Buffer, { itemBytes, search }: ItemReading): unknown {
  // Nobody else has a turn while one is parsed.
  if (item.length > itemBytes) return new BadItem(tooLarge(item.length, itemBytes))
  try {
    return readDocument(textOf(item), search)
  } catch (error) {
    return new BadItem(error as Refusal)
  }
}

const LINE_END = 0x0a
const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Empty lines are none: many programs end their last line. */
function splitLines(bytes: Buffer, most: number): Buffer[] {
  const lines: Buffer[] = []
  for (let start = skipBlank(bytes, 0); start < bytes.length; start = skipBlank(bytes, start)) {
    if (lines.length === most) throw tooManyItems(most)
    const end = bytes.indexOf(LINE_END, start)
    lines.push(bytes.subarray(start, end < 0 ? bytes.length : end))
    start = end < 0 ? bytes.length : end
  }
  return lines
}

/** The items of a JSON list, each yet to be parsed; undefined when the brackets do not fit. */
function splitList(bytes: Buffer, most: number): Buffer[] | undefined {
  const items: Buffer[] = []
  let depth = 0
  let start = 0
  for (let at = skipBlank(bytes, 0); at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === QUOTE) at = endOfString(bytes, at)
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (depth++ === 0) start = at + 1
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--
    if (depth > 1 || (depth === 1 && byte !== COMMA)) continue
    const item = bytes.subarray(start, at)
    const isEnd = depth === 0
    if (!isEnd || items.length > 0 || skipBlank(item, 0) < item.length) {
      if (items.length === most) throw tooManyItems(most)
      items.push(item)
    }
    start = at + 1
    if (isEnd) return byte === CLOSE_LIST && skipBlank(bytes, start) === bytes.length ? items : undefined
  }
  return undefined
}

/** At the quote that ends it. */
function endOfString(bytes: Buffer, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}

/** Space, tab, and both halves of a line end. */
function skipBlank(bytes: Buffer, at: number): number {
  while (bytes[at] === 0x20 || bytes[at] === 0x09 || bytes[at] === 0x0d || bytes[at] === LINE_END) at++
  return at
}

function tooLarge(bytes: number, itemBytes: number): Refusal {
  return new Refusal('body-too-large', { detail: `The item has ${bytes} bytes; of one task ${itemBytes} are taken.` })
}

function tooManyItems(most: number): Refusal {
  return new Refusal('batch-too-large', { detail: `It has more than ${most} items, which are taken at once.` })
}
