/** The name of a body: what its bytes are, not where they lie. Who has the bytes knows the name, and the other way round. */
const BODY_REF = /^sha256-[\da-f]{64}$/

export function bodyRefOf(sha256Hex: string): string {
  return `sha256-${sha256Hex}`
}

export function isBodyRef(text: string): boolean {
  return BODY_REF.test(text)
}

/** What a JSON schema has to know of it. */
export const BODY_REF_PATTERN: string = BODY_REF.source
