/**
 * Finds many words in one pass, a step for each character, whatever words and text are (Aho and Corasick, 1975).
 *
 *  1. A state is the longest end of what was read that some word begins with; at the start it is empty.
 *  2. What cannot go on falls back to the next shorter such end, so that no character is read twice.
 *  3. States are made in order of their length: those that one falls back to are all there before it.
 */
export class WordSearch {
  /** By which character a state is come to. */
  readonly #codes: Uint16Array
  /** The first state that follows one, and for each of these the next; START for none, which follows nothing. */
  readonly #firsts: Int32Array
  readonly #siblings: Int32Array
  readonly #fallBacks: Int32Array
  readonly #lengths: Int32Array
  /** Of the longest word that ends with the state; 0 for none. */
  readonly #wordLengths: Int32Array
  #states = 1

  constructor(words: readonly string[]) {
    const most = words.reduce((sum, { length }) => sum + length, 1)
    this.#codes = new Uint16Array(most)
    this.#firsts = new Int32Array(most)
    this.#siblings = new Int32Array(most)
    this.#fallBacks = new Int32Array(most)
    this.#lengths = new Int32Array(most)
    this.#wordLengths = new Int32Array(most)
    let growing = words.map(word => ({ word, state: START }))
    for (let length = 0; growing.length > 0; length++) {
      growing = growing.filter(({ word }) => word.length > length)
      for (const each of growing) {
        const code = each.word.charCodeAt(length)
        each.state = this.#next(each.state, code) || this.#grow(each.state, code)
        if (each.word.length === length + 1) this.#wordLengths[each.state] = length + 1
      }
    }
  }

  /**
   * All that is part of a word, in order; words that touch are one span. Of a text that `isCut` the beginning of a word
   * at its end counts as one.
   */
  spansIn(text: string, isCut: boolean): readonly Span[] {
    const spans: Span[] = []
    let state = START
    for (let at = 0; at < text.length; at++) {
      state = this.#step(state, text.charCodeAt(at))
      const wordLength = this.#wordLengths[state]!
      if (wordLength > 0) cover(spans, at + 1 - wordLength, at + 1)
    }
    if (isCut && state !== START) cover(spans, text.length - this.#lengths[state]!, text.length)
    return spans
  }

  #step(from: number, code: number): number {
    for (let state = from; ; state = this.#fallBacks[state]!) {
      const next = this.#next(state, code)
      if (next !== START || state === START) return next
    }
  }

  /** There are no more of them than different characters. */
  #next(state: number, code: number): number {
    let next = this.#firsts[state]!
    while (next !== START && this.#codes[next] !== code) next = this.#siblings[next]!
    return next
  }

  #grow(from: number, code: number): number {
    const state = this.#states++
    const fallBack = from === START ? START : this.#step(this.#fallBacks[from]!, code)
    this.#codes[state] = code
    this.#siblings[state] = this.#firsts[from]!
    this.#firsts[from] = state
    this.#fallBacks[state] = fallBack
    this.#lengths[state] = this.#lengths[from]! + 1
    this.#wordLengths[state] = this.#wordLengths[fallBack]!
    return state
  }
}

export interface Span {
  readonly start: number
  readonly end: number
}

const START = 0

/** Spans come by their end: those that begin after the new one, or touch it, are part of it. */
function cover(spans: Span[], from: number, end: number): void {
  let start = from
  while (spans.length > 0 && spans.at(-1)!.end >= start) start = Math.min(start, spans.pop()!.start)
  spans.push({ start, end })
}
