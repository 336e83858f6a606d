import { isSecretName, REDACTED } from '../../secrets.ts'

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
