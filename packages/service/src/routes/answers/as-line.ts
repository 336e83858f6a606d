/** An answer as JSON that ends its line: a shell's prompt does not stick to it. */
export function asLine(answer: unknown): string {
  return `${JSON.stringify(answer)}\n`
}
