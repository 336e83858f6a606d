import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Refusal } from '../answers/refusal.ts'
import { firstRepeatedName } from './json-names.ts'
import { whereJsonFails } from './json-position.ts'
import { DEEPEST, fieldsIn, LONGEST_NAME, MOST_FIELDS, MOST_PARTS, namesIn } from './overgrown.ts'
import { invalid } from './validation.ts'

/** JSON is read wherever a body is taken; no other type is, and nowhere a body that is not asked for. */
export function readJsonBodies(api: FastifyInstance): void {
  readBodies(api, 'application/json', bytes => readDocument(textOf(bytes)))
}

/** Bodies of one type, as `read` reads them, at once or in several turns; it throws what is wrong with one. */
export function readBodies(api: FastifyInstance, type: string, read: (bytes: Buffer) => unknown): void {
  const readFor = (request: FastifyRequest, bytes: Buffer): unknown => {
    if (bytes.length === 0) return undefined
    if (request.getValidationFunction('body') === undefined) throw unasked()
    return read(bytes)
  }
  // What is thrown here, or comes of a promise, the framework hands on as well.
  api.addContentTypeParser(type, { parseAs: 'buffer' }, (request: FastifyRequest, bytes: Buffer, done) => {
    const body = readFor(request, bytes)
    return body instanceof Promise ? body : done(null, body)
  })
}

/** There is a body that nobody will read. */
export function unasked(): Refusal {
  return new Refusal('invalid-request', { detail: 'This operation takes no body; send none.' })
}

/** Bytes that are no text would become question marks, and nobody would be told. */
export function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new Refusal('bad-json', { detail: 'The body is not valid UTF-8, as JSON must be.' })
  return bytes.toString('utf8')
}

/** Looking for the place costs more than parsing did: so much of a request is looked at, however many parts it has. */
const LONGEST_SEARCHED = 262_144

export interface Search {
  left: number
}

export function newSearch(): Search {
  return { left: LONGEST_SEARCHED }
}

/** A JSON document that a schema may look at. Throws before that, so that no heap of junk is told of piece by piece. */
export function readDocument(text: string, search: Search = newSearch()): unknown {
  const names = namesIn(text)
  if (names === undefined) throw overgrown()
  const document = parse(text, search)
  const fields = fieldsIn(document)
  if (fields === undefined) throw overgrown()
  if (names > fields)
    throw invalid('body', [{ at: firstRepeatedName(text)!, is: undefined, say: 'must be given once in an object' }])
  return document
}

function parse(text: string, search: Search): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw notJson(text, search)
  }
}

/** Where it stops being JSON. */
export function notJson(text: string, search: Search): Refusal {
  search.left -= text.length
  return new Refusal('bad-json', { detail: search.left < 0 ? TOO_LONG : sayWhere(text) })
}

const TOO_LONG = 'It is too long to look for the place; a text of less than 256 KiB is told where it fails.'

function sayWhere(text: string): string {
  const { line, column, offset, wanted } = whereJsonFails(text)
  const place = `${offset >= text.length ? 'It ends too early' : 'It cannot go on'} at line ${line}, column ${column}`
  return wanted === undefined ? `${place}.` : `${place}, where ${wanted} must stand.`
}

function overgrown(): Refusal {
  return new Refusal('invalid-request', {
    detail: `No object has more than ${MOST_FIELDS} fields, nor a name of more than ${LONGEST_NAME} characters, nor is anything nested deeper than ${DEEPEST}, nor are there more than ${MOST_PARTS} fields and items of lists in all.`,
  })
}
