import { nextTurn } from '@secondwind/resilience'

type Begin = () => void

/** The lists of one tenant, or of operators. */
interface Line {
  underWay: number
  /** The first first. */
  readonly waiting: Set<Begin>
}

/** Twice as many as are read at once: while some are read, others are written down. More would only be kept in memory. */
const AT_ONCE = 4

/**
 * Of one reader a few lists are under way, and the others wait before anything is done for them. What has been read for a
 * list stays in memory until it is answered: however many are asked for, it is that of a few.
 */
export class ListLines {
  readonly #lines = new Map<string, Line>()

  /** Whether it may begin at once; else it waits to be told. */
  begins(reader: string, begin: Begin): boolean {
    const line = this.#lines.get(reader)
    if (line === undefined) this.#lines.set(reader, { underWay: 1, waiting: new Set() })
    else if (line.underWay < AT_ONCE) line.underWay++
    else {
      line.waiting.add(begin)
      return false
    }
    return true
  }

  /** Whether it was waiting still, and will not be told. */
  leave(reader: string, begin: Begin): boolean {
    return this.#lines.get(reader)?.waiting.delete(begin) ?? false
  }

  /** One has ended: the next begins. */
  end(reader: string): void {
    const line = this.#lines.get(reader)!
    const [next] = line.waiting
    if (next !== undefined) {
      line.waiting.delete(next)
      // In a turn of its own: one that is answered at once ends in the call that began it, and so would all behind it.
      nextTurn(next)
    } else if (--line.underWay === 0) this.#lines.delete(reader)
  }
}
