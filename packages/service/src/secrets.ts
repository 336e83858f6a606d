/** What takes the place of a secret wherever it could be read. */
export const REDACTED = '[redacted]'

/** Names of what opens doors. Rather one too many: who needs the value has it. */
const SECRET_NAME =
  /authorization|authenticat|cookie|token|secret|passw|api[-_]?key|(?<!^idempotency)[-_]key$|credential|session|signature|^proxy-|(?:^|[-_.])auth(?:$|[-_])/i

/** Names are few and come again with every task: what was found out of one is kept, for so many of usual length. */
const MOST_KNOWN = 1_000
const LONGEST_KNOWN = 64
const known = new Map<string, boolean>()

/** Whether the value under this name, of a header or a field, is nobody's business but the two ends'. */
export function isSecretName(name: string): boolean {
  const found = known.get(name)
  if (found !== undefined) return found
  const isSecret = SECRET_NAME.test(name)
  if (known.size < MOST_KNOWN && name.length <= LONGEST_KNOWN) known.set(name, isSecret)
  return isSecret
}
