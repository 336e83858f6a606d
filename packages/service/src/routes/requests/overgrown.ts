export const MOST_FIELDS = 100
export const LONGEST_NAME = 256

/** Whether a document, or an object right below it, has more names than any that is taken here, or longer ones. */
export function isOvergrown(document: unknown): boolean {
  if (!isObject(document)) return false
  let fields = 0
  for (const name in document) {
    const part = document[name]
    if (++fields > MOST_FIELDS || name.length > LONGEST_NAME || (isObject(part) && hasTooMany(part))) return true
  }
  return false
}

function hasTooMany(part: object): boolean {
  let fields = 0
  for (const name in part) if (++fields > MOST_FIELDS || name.length > LONGEST_NAME) return true
  return false
}

/** Lists have limits of their own, wherever they are taken. */
function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
