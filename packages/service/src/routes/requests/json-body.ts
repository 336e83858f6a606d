import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Refusal } from '../answers/refusal.ts'
import { whereJsonFails } from './json-position.ts'
import { isOvergrown, LONGEST_NAME, MOST_FIELDS } from './overgrown.ts'

/** An item of a batch that is not even looked at: it harms no other. */
export class BadLine {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    this.refusal = refusal
  }
}

/** JSON is read wherever a body is taken; no other type is, and nowhere a body that is not asked for. */
export function readJsonBodies(api: FastifyInstance): void {
  addParser(api, 'application/json', bytes => parseJson(textOf(bytes), { left: LONGEST_SEARCHED }))
}

/** A line for each task, and no more lines than tasks are taken. */
export function readLines(api: FastifyInstance, most: number): void {
  addParser(api, 'application/x-ndjson', bytes => parseLines(bytes, most))
}

/** There are too many tasks in one request. */
export function tooManyItems(count: string, most: number): Refusal {
  return new Refusal('batch-too-large', { detail: `It has ${count} items; at most ${most} are taken at once.` })
}

function addParser(api: FastifyInstance, type: string, parse: (bytes: Buffer) => unknown): void {
  api.addContentTypeParser(type, { parseAs: 'buffer' }, (request, bytes: Buffer, parsed) => {
    let body: unknown
    try {
      body = bytes.length === 0 ? undefined : refuseUnasked(request, parse(bytes))
    } catch (error) {
      parsed(error as Error)
      return
    }
    parsed(null, body)
  })
}

/** More items are refused by their number; nobody needs to look at each. */
const MOST_LOOKED_AT = 10_000

/** The body as a schema may look at it: before that, so that no heap of junk is told of piece by piece. */
function refuseUnasked({ routeOptions }: FastifyRequest, body: unknown): unknown {
  if (routeOptions.schema?.body === undefined)
    throw new Refusal('invalid-request', { detail: 'This operation takes no body; send none.' })
  if (!Array.isArray(body)) {
    if (isOvergrown(body)) throw overgrown()
    return body
  }
  return body.length > MOST_LOOKED_AT
    ? body
    : body.map((item: unknown) => (isOvergrown(item) ? new BadLine(overgrown()) : item))
}

function overgrown(): Refusal {
  return new Refusal('invalid-request', {
    detail: `No object has more than ${MOST_FIELDS} fields, nor a name of more than ${LONGEST_NAME} characters.`,
  })
}

/** Bytes that are no text would become question marks, and nobody would be told. */
function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new Refusal('bad-json', { detail: 'The body is not valid UTF-8, as JSON must be.' })
  return bytes.toString('utf8')
}

/** Looking for the place costs more than parsing did: so much of a request is looked at, however many lines it has. */
const LONGEST_SEARCHED = 262_144

interface Search {
  left: number
}

function parseJson(text: string, search: Search): unknown {
  try {
    return JSON.parse(text)
  } catch {
    search.left -= text.length
    throw new Refusal('bad-json', { detail: search.left < 0 ? TOO_LONG : sayWhere(text) })
  }
}

const TOO_LONG = 'It is too long to look for the place; a text of less than 256 KiB is told where it fails.'

function sayWhere(text: string): string {
  const { line, column, offset } = whereJsonFails(text)
  return `${offset >= text.length ? 'It ends too early' : 'It cannot go on'} at line ${line}, column ${column}.`
}

const LINE_END = 0x0a

/** Empty lines are none: many programs end their last line. They are counted before any of them is parsed. */
function parseLines(bytes: Buffer, most: number): unknown[] {
  const lines: Buffer[] = []
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(LINE_END, start)
    const line = bytes.subarray(start, end < 0 ? bytes.length : end)
    start = end < 0 ? bytes.length : end + 1
    if (isBlank(line)) continue
    if (lines.length === most) throw tooManyItems(`more than ${most}`, most)
    lines.push(line)
  }
  const search = { left: LONGEST_SEARCHED }
  return lines.map(line => parseLine(line, search))
}

/** Spaces, tabs, and the first half of a line end from Windows. */
function isBlank(line: Buffer): boolean {
  return line.every(byte => byte === 0x20 || byte === 0x09 || byte === 0x0d)
}

function parseLine(line: Buffer, search: Search): unknown {
  try {
    return parseJson(textOf(line), search)
  } catch (error) {
    return new BadLine(error as Refusal)
  }
}
