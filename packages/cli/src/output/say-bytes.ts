/** `1 byte`, `12 bytes`: all of them, for whoever compares. */
export function sayBytes(bytes: number): string {
  return `${bytes} byte${bytes === 1 ? '' : 's'}`
}
