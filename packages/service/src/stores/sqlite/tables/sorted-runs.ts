/** Names that are put in order as they come, a run at a time: to sort thousands together would hold everybody up. */
export class SortedRuns {
  readonly #runLength: number
  readonly #runs: string[][] = []
  #coming: string[] = []

  constructor(runLength: number) {
    this.#runLength = runLength
  }

  add(name: string): void {
    this.#coming.push(name)
    if (this.#coming.length === this.#runLength) this.#endRun()
  }

  /** All of them; a name that came twice is there twice. */
  *inOrder(): Generator<string> {
    this.#endRun()
    let heads = this.#runs.filter(run => run.length > 0).map(run => ({ run, at: 0 }))
    while (heads.length > 0) {
      const least = heads.reduce((one, other) => (other.run[other.at]! < one.run[one.at]! ? other : one))
      yield least.run[least.at++]!
      if (least.at === least.run.length) heads = heads.filter(head => head !== least)
    }
  }

  #endRun(): void {
    this.#runs.push(this.#coming.toSorted((one, other) => (one < other ? -1 : 1)))
    this.#coming = []
  }
}
