import { isUtf8 } from 'node:buffer'
import type { CapturedResponse } from '../../task/task.ts'
import { isSecretName, REDACTED } from '../../secrets.ts'

/** As undici reads them: small letters, and a list where a name came several times. */
export type ResponseHeaders = { readonly [name: string]: string | string[] | undefined }

const MOST_HEADERS = 64
const LONGEST_HEADER = 1_024

/** The beginning of a body, up to a limit. */
export class Capture {
  /** Of the body so far. */
  bytes = 0
  readonly #limitBytes: number
  readonly #chunks: Buffer[] = []

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  add(chunk: Buffer): void {
    const left = this.#limitBytes - this.bytes
    if (left > 0) this.#chunks.push(chunk.subarray(0, left))
    this.bytes += chunk.byteLength
  }

  /** What is kept of an answer. `isWhole`: nothing of its body is missing. */
  keep(headers: ResponseHeaders, blotter: Blotter, isWhole: boolean): CapturedResponse {
    const kept = keptHeaders(headers, blotter)
    const isTruncated = this.bytes > this.#limitBytes || !isWhole
    const bytes = this.#beginning(blotter, isTruncated)
    const text = textOf(bytes, isTruncated)
    return {
      headers: kept.headers,
      body: text ?? bytes.toString('base64'),
      bodyEncoding: text === undefined ? 'base64' : 'utf8',
      truncated: isTruncated || kept.isCut,
    }
  }

  #beginning(blotter: Blotter, isCut: boolean): Buffer {
    const all = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
    if (blotter.hasNothing) return all
    // Byte by byte: a secret is what a header can hold, whatever the body around it is.
    return Buffer.from(blotter.text(all.toString('latin1'), isCut), 'latin1').subarray(0, this.#limitBytes)
  }
}

/** Undefined for bytes that are no text, or that a store could not keep as text. */
function textOf(bytes: Buffer, isCut: boolean): string | undefined {
  if (bytes.includes(0)) return undefined
  if (!isCut) return isUtf8(bytes) ? bytes.toString('utf8') : undefined
  try {
    // In the middle of a stream half a character at the end is no mistake, and is left out.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true })
  } catch {
    return undefined
  }
}

/** In one pass, for it is done for every answer; as entries, so that a header may have any name. */
function keptHeaders(headers: ResponseHeaders, blotter: Blotter): { headers: Kept; isCut: boolean } {
  const kept: [name: string, text: string][] = []
  let isCut = false
  for (const name in headers) {
    if (kept.length === MOST_HEADERS) {
      isCut = true
      break
    }
    const value = headers[name]
    const whole = Array.isArray(value) ? value.join(', ') : (value ?? '')
    const text = blotter.header(name, whole.slice(0, LONGEST_HEADER), whole.length > LONGEST_HEADER)
    isCut ||= Math.max(name.length, whole.length, text.length) > LONGEST_HEADER
    kept.push([name.slice(0, LONGEST_HEADER), text.slice(0, LONGEST_HEADER)])
  }
  return { headers: Object.fromEntries(kept), isCut }
}

type Kept = { readonly [name: string]: string }

/** Shorter ones would blot out common words. */
const SHORTEST_SECRET = 8
/** Most requests have two or three. Each costs a pass through the answer: of an answer to more, nothing is kept. */
const MOST_SECRETS = 64
/**
 * Compared for one answer, about a millisecond. Tenants choose the secrets, and their targets the answers: with `aaaa…` in both, a search
 * could take a second of the event loop. An echo of a usual secret takes a few hundred.
 */
const MOST_COMPARED = 1_000_000

/**
 * Blots out what must not be read in an answer: the secrets that were sent, for some servers repeat what they were asked
 * with. A value counts as a whole and by its parts: of `Bearer abc…` it is the second that opens doors.
 *
 * What was put in place of a secret is not searched again: `redacted` may be a secret, too.
 */
export class Blotter {
  readonly #secrets: readonly string[]
  #compared = 0

  constructor(...sent: readonly { readonly [name: string]: string }[]) {
    this.#secrets = secretsOf(sent)
  }

  /** Nothing secret was sent. */
  get hasNothing(): boolean {
    return this.#secrets.length === 0
  }

  /** What is kept of a header. */
  header(name: string, value: string, isCut: boolean): string {
    return isSecretName(name) ? REDACTED : this.text(value, isCut)
  }

  /** Of a text that `isCut` the beginning of a secret at its end is blotted out, too. */
  text(text: string, isCut: boolean): string {
    if (this.hasNothing || text === '') return text
    if (this.#secrets.length > MOST_SECRETS) return REDACTED
    const spans = this.#secrets.flatMap(secret => [
      ...this.#spansOf(secret, text, isCut),
      ...(isCut ? shortEnd(secret, text) : []),
    ])
    if (this.#compared > MOST_COMPARED) return REDACTED
    return spans.length === 0 ? text : withoutSpans(text, spans)
  }

  /** Where the secret stands. Its first letters are looked for, and compared is only what begins with them. */
  #spansOf(secret: string, text: string, isCut: boolean): Span[] {
    const spans: Span[] = []
    const head = secret.slice(0, SHORTEST_SECRET)
    for (let at = text.indexOf(head); at !== -1; at = text.indexOf(head, at + 1)) {
      const part = secret.slice(0, text.length - at)
      if (part.length < secret.length && !isCut) break
      this.#compared += part.length
      if (this.#compared > MOST_COMPARED) break
      if (text.startsWith(part, at)) spans.push({ start: at, end: at + part.length })
    }
    return spans
  }
}

interface Span {
  readonly start: number
  readonly end: number
}

/** The beginning of the secret at the end of the text, if it is shorter than what is looked for. */
function shortEnd(secret: string, text: string): Span[] {
  for (let length = SHORTEST_SECRET - 1; length > 0; length--)
    if (text.endsWith(secret.slice(0, length))) return [{ start: text.length - length, end: text.length }]
  return []
}

/** Secrets that overlap or touch become one mark. */
function withoutSpans(text: string, spans: readonly Span[]): string {
  let kept = ''
  let from = 0
  for (const { start, end } of spans.toSorted((left, right) => left.start - right.start)) {
    if (start > from || from === 0) kept += `${text.slice(from, start)}${REDACTED}`
    from = Math.max(from, end)
  }
  return kept + text.slice(from)
}

function secretsOf(sent: readonly { readonly [name: string]: string }[]): readonly string[] {
  let secrets: Set<string> | undefined
  for (const headers of sent)
    for (const name in headers)
      if (isSecretName(name))
        for (const secret of [headers[name]!, ...headers[name]!.split(PARTING)])
          if (secret.length >= SHORTEST_SECRET) (secrets ??= new Set()).add(secret)
  return secrets === undefined ? NONE : [...secrets]
}

const PARTING = /[\s;,="]+/
const NONE: readonly string[] = []
