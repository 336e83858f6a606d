/** A batch as it arrives: a list, or a line for each task. Its items are counted here, and parsed one by one later. */
import type { FastifyInstance } from 'fastify'
import { Refusal } from '../answers/refusal.ts'
import { notJson, readBodies, readDocument, splitList, textOf } from './json-body.ts'

/** The texts of the items. One that is not JSON is refused alone, but in a list: where its items end is not certain then. */
export class Batch {
  readonly items: readonly (string | Buffer)[]
  readonly isList: boolean

  constructor(items: readonly (string | Buffer)[], isList: boolean) {
    this.items = items
    this.isList = isList
  }
}

/** Takes at most so many items. To be called in a scope of its own: only there a line is a task. */
export function readBatches(api: FastifyInstance, most: number): void {
  api.removeContentTypeParser('application/json')
  readBodies(api, 'application/json', bytes => readList(textOf(bytes), most))
  readBodies(api, 'application/x-ndjson', bytes => new Batch(splitLines(bytes, most), false))
}

const LIST = /^[ \t\n\r]*\[/

/** Another document is returned as it is. */
function readList(text: string, most: number): unknown {
  if (!LIST.test(text)) return readDocument(text)
  const items = splitList(text, most)
  if (items === undefined) throw notJson()
  if (items.length > most) throw tooManyItems(most)
  return new Batch(items, true)
}

const LINE_END = 0x0a

/** Empty lines are not counted: many programs end their last line. */
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

/** Space, tab, and both halves of a line end. */
function skipBlank(bytes: Buffer, at: number): number {
  while (bytes[at] === 0x20 || bytes[at] === 0x09 || bytes[at] === 0x0d || bytes[at] === LINE_END) at++
  return at
}

function tooManyItems(most: number): Refusal {
  return new Refusal('batch-too-large', { detail: `It has more than ${most} items.` })
}
