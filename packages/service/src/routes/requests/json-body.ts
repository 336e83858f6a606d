import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Refusal } from '../answers/refusal.ts'
import { DEEPEST, isOvergrown, MOST_PARTS } from './json-text.ts'

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
