import { isSecretName, REDACTED } from '../../secrets.ts'
import { WordSearch } from './word-search.ts'

/** Shorter ones would blot out common words. */
const SHORTEST_SECRET = 8
/** All that a task's headers can hold, whole and by their parts, and as much as signatures need. */
const MOST_CHARACTERS = 49_152
/** So many are looked for one by one before all of them are looked for at once. */
const FEW_HEADS = 8

/**
 * Blots out what must not be read in an answer: the secrets that were sent, for some servers repeat what they were asked
 * with. A value counts as a whole and by its parts: of `Bearer abc…` it is the second that opens doors.
 *
 * Text is searched in one pass: neither those who choose the secrets nor those who choose the answer make it long. What
 * was put in place of a secret is not searched again: `redacted` may be a secret, too.
 */
export class Blotter {
  readonly #secrets: readonly string[]
  readonly #heads: readonly string[]
  readonly #isBeyond: boolean
  #search: WordSearch | undefined = undefined

  constructor(...sent: readonly { readonly [name: string]: string }[]) {
    const secrets = secretsOf(sent)
    this.#secrets = secrets
    this.#heads = secrets === NONE ? NONE : [...new Set(secrets.map(secret => secret.slice(0, SHORTEST_SECRET)))]
    this.#isBeyond = secrets.reduce((sum, { length }) => sum + length, 0) > MOST_CHARACTERS
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
    // More than anybody could have sent by way of this service: rather nothing is kept than too much.
    if (this.#isBeyond) return REDACTED
    if (!isCut && this.#hasNone(text)) return text
    this.#search ??= new WordSearch(this.#secrets)
    let blotted = ''
    let from = 0
    for (const { start, end } of this.#search.spansIn(text, isCut)) {
      blotted += `${text.slice(from, start)}${REDACTED}`
      from = end
    }
    return from === 0 ? text : blotted + text.slice(from)
  }

  /** Most answers repeat nothing, which their few first letters tell for less than it takes to begin a search. */
  #hasNone(text: string): boolean {
    return this.#heads.length <= FEW_HEADS && !this.#heads.some(head => text.includes(head))
  }
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
