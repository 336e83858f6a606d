/** `1 attempt`, `1,200 attempts`. */
export function sayCount(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}
