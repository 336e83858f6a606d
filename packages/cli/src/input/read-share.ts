import type { Reader } from './read-options.ts'

/** `20%` or `0.2`: a part of the whole. */
export const share: Reader<number> = given => {
  const [, amount, percent] = /^(\d+(?:\.\d+)?)\s*(%?)$/.exec(String(given)) ?? []
  const value = Number(amount) / (percent === '%' ? 100 : 1)
  return value >= 0 && value <= 1 ? { value } : { must: 'a share such as 20% or 0.2' }
}
