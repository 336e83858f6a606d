import { seededRandom } from '@secondwind/resilience/testing'

/** A die: uniform in [0, 1). */
export type Die = () => number

/**
 * One die for each purpose, all from one seed: a change to one part of a world does not shift the chances of the others,
 * so that two policies can be compared under the same weather.
 */
export function dieFor(seed: number, purpose: string): Die {
  return seededRandom(mix(seed, purpose))
}

/** FNV-1a over the purpose in two halves of 26 bits, begun with the seed: within the whole numbers that a seed may be. */
function mix(seed: number, purpose: string): number {
  let low = (0x811c9dc5 ^ seed) | 0
  let high = (0x9747b28c ^ Math.floor(seed / 2 ** 32)) | 0
  for (let place = 0; place < purpose.length; place++) {
    low = Math.imul(low ^ purpose.charCodeAt(place), 0x01000193)
    high = Math.imul(high ^ (purpose.charCodeAt(place) + place), 0x01000193)
  }
  return (low >>> 6) * 2 ** 26 + (high >>> 6)
}
