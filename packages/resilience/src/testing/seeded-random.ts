import { refuseProblems } from './errors.ts'
import type { Random } from '../ports/random.ts'

/**
 * The same numbers for the same seed, in every runtime and version: a failing run is replayed by its seed.
 * The generator is sfc32 (Doty-Humphrey, PractRand), its state spread from the seed by splitmix32.
 */
export function seededRandom(seed: number): Random {
  if (!Number.isSafeInteger(seed))
    refuseProblems('seededRandom', [{ at: 'seed', is: seed, say: 'must be a whole number within ±2⁵³' }])

  const low = splitmix32(seed)
  const high = splitmix32(Math.floor(seed / 2 ** 32) ^ HIGH_HALF)
  // In typed memory: as variables, numbers above 31 bits would be allocated anew at each step.
  const state = Int32Array.of(low(), high(), low() ^ high(), 1)

  const next = (): number => {
    const [a, b, c, counter] = [state[0]!, state[1]!, state[2]!, state[3]!]
    const sum = (((a + b) | 0) + counter) | 0
    state[0] = b ^ (b >>> 9)
    state[1] = c + (c << 3)
    state[2] = ((c << 21) | (c >>> 11)) + sum
    state[3] = counter + 1
    return sum
  }

  for (let round = 0; round < WARM_UP_ROUNDS; round++) next()
  // 53 bits, as many as a number holds: 27 of one draw and 26 of another.
  return () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53
}

/** Keeps the seed's two halves apart when they are equal. */
const HIGH_HALF = 0x5bd1e995

/** What the generator's author asks for before its first number is used. */
const WARM_UP_ROUNDS = 12

function splitmix32(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return mixed ^ (mixed >>> 15)
  }
}
