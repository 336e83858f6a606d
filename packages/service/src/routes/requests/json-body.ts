import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Refusal } from '../answers/refusal.ts'

/** JSON is read wherever an operation takes a body; other types and other bodies are refused. */
export function readJsonBodies(api: FastifyInstance): void {
  readBodies(api, 'application/json', bytes => readDocument(textOf(bytes)))
}

/** Bodies of one type are read by `read`, which throws the refusal of a wrong one. */
export function readBodies(api: FastifyInstance, type: string, read: (bytes: Buffer) => unknown): void {
  // An error that is thrown here is answered like any other.
  api.addContentTypeParser(type, { parseAs: 'buffer' }, (request: FastifyRequest, bytes: Buffer, done) => {
    if (bytes.length === 0) return done(null, undefined)
    if (request.getValidationFunction('body') === undefined) throw unasked()
    done(null, read(bytes))
  })
}

/** For a body that no operation reads. */
export function unasked(): Refusal {
  return new Refusal('invalid-request', { detail: 'This operation takes no body; send none.' })
}

/** Bytes that are not UTF-8 would become question marks without a word. */
export function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new Refusal('bad-json', { detail: 'The body is not valid UTF-8, as JSON must be.' })
  return bytes.toString('utf8')
}

/**
 * A JSON document that a schema may look at. Of a name that stands twice in one object the last one counts, as in every
 * parser of JSON in JavaScript.
 */
export function readDocument(text: string): unknown {
  if (isOvergrown(text))
    throw new Refusal('invalid-request', {
      detail: `It has more than ${MOST_PARTS} names and items of lists, or is nested deeper than ${DEEPEST}.`,
    })
  try {
    return JSON.parse(text)
  } catch {
    // The message of the parser quotes the text, and may repeat a secret.
    throw notJson()
  }
}

export function notJson(): Refusal {
  return new Refusal('bad-json', {
    detail: 'It cannot be parsed as JSON: a quote, a comma or a bracket is missing, or stands where it should not.',
  })
}

/** A JSON text, before it is parsed: how large it is, and where the items of a list end. */

export const DEEPEST = 32
/** Names and items: the largest task there can be has 1 700, most of them in the lists of its policy. */
export const MOST_PARTS = 10_000

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
/** `[` and `{` differ in this bit alone, as do `]` and `}`. */
const CURLY = 0x20
const OPENING = 0x5b | CURLY
const CLOSING = 0x5d | CURLY

/**
 * Whether it has more names and items than a task can have, or is nested deeper. Millions of names cost the parser seconds;
 * this stops at the first that is too many.
 */
export function isOvergrown(text: string): boolean {
  let parts = 0
  let isLarge = false
  eachMark(text, (code, _, depth) => {
    if ((code | CURLY) !== CLOSING) parts++
    isLarge = depth > DEEPEST || parts > MOST_PARTS
    return !isLarge
  })
  return isLarge
}

const BLANK = /^[ \t\n\r]*$/

/**
 * The items of a list, each yet to be parsed: a text is JSON if all of them are. Undefined when the list does not end, or more
 * follows. Stops behind the first item that is too many.
 */
export function splitList(text: string, most: number): string[] | undefined {
  const items: string[] = []
  let start = text.indexOf('[') + 1
  let isClosed = false
  eachMark(text, (code, at, depth) => {
    isClosed = depth === 0
    if (isClosed || (depth === 1 && code === COMMA)) {
      items.push(text.slice(start, at))
      start = at + 1
    }
    return !isClosed && items.length <= most
  })
  if (items.length > most) return items
  if (!isClosed || !BLANK.test(text.slice(start))) return undefined
  return items.length === 1 && BLANK.test(items[0] ?? '') ? [] : items
}

/** Tells of every comma and bracket outside of strings, and how many brackets are open behind it, until `see` says no. */
function eachMark(text: string, see: (code: number, at: number, depth: number) => boolean): void {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === COMMA || (code | CURLY) === OPENING || (code | CURLY) === CLOSING) {
      if ((code | CURLY) === OPENING) depth++
      else if (code !== COMMA) depth--
      if (!see(code, at, depth)) return
    }
  }
}

/** At the quote that ends a string: one behind an odd number of backslashes does not. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at - 1
    while (text.charCodeAt(before) === BACKSLASH) before--
    if ((at - before) % 2 === 1) return at
  }
  return text.length
}
