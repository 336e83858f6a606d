/** A series has a number for each step, and there may be millions: more than a call takes arguments. */

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** The largest of them, and 0 when there are none. */
export function largest(numbers: readonly number[]): number {
  return numbers.reduce((most, number) => (number > most ? number : most), 0)
}
