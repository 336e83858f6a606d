/** Several counts for each step of time, side by side: what is written together lies together. */
export class Series {
  readonly #width: number
  #counts: Float64Array
  #steps = 1

  constructor(width: number) {
    this.#width = width
    this.#counts = new Float64Array(width * 64)
  }

  /** To be called before anything is counted in a new step. */
  begin(step: number): void {
    this.#steps = step + 1
    if (this.#steps * this.#width <= this.#counts.length) return
    const counts = new Float64Array(2 * this.#steps * this.#width)
    counts.set(this.#counts)
    this.#counts = counts
  }

  add(step: number, column: number, amount: number): void {
    this.#counts[step * this.#width + column]! += amount
  }

  raise(step: number, column: number, atLeast: number): void {
    const place = step * this.#width + column
    if (this.#counts[place]! < atLeast) this.#counts[place] = atLeast
  }

  column(column: number): number[] {
    return Array.from({ length: this.#steps }, (_, step) => this.#counts[step * this.#width + column]!)
  }
}
