/** The name of a body: what its bytes are, not where they lie. Who has the bytes knows the name, and the other way round. */
export function bodyRefOf(sha256Hex: string): string {
  return `sha256-${sha256Hex}`
}

/** As a JSON schema has it. */
export const BODY_REF_PATTERN = '^sha256-[\\da-f]{64}$'
