import { nextTurn } from '../ports/turn.ts'

/**
 * One turn settles every promise that can settle by itself. Some code waits a turn of its own before it settles
 * (an attempt that was told to stop may still bring a success home), and may tell others in its turn.
 */
const TURNS = 3

/** Resolves when whatever could go on without the clock has gone on. */
export function settled(): Promise<void> {
  return new Promise(resolve => {
    let left = TURNS
    const turn = (): void => {
      if (left-- === 0) resolve()
      else nextTurn(turn)
    }
    turn()
  })
}
