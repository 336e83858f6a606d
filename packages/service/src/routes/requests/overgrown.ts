export const MOST_FIELDS = 100
export const LONGEST_NAME = 256
export const DEEPEST = 32

/**
 * How many fields a document has, all its parts included; undefined when an object has more of them, or longer names, or
 * when it is nested deeper, than anything that is taken here.
 */
export function fieldsIn(document: unknown, depth = 0): number | undefined {
  if (typeof document !== 'object' || document === null) return 0
  if (depth === DEEPEST) return undefined
  // Lists have limits of their own, wherever they are taken.
  if (Array.isArray(document)) return fieldsBelow(document, depth)
  const names = Object.keys(document)
  if (names.length > MOST_FIELDS || names.some(name => name.length > LONGEST_NAME)) return undefined
  const below = fieldsBelow(Object.values(document), depth)
  return below === undefined ? undefined : names.length + below
}

function fieldsBelow(parts: readonly unknown[], depth: number): number | undefined {
  let fields = 0
  for (const part of parts) {
    const inside = fieldsIn(part, depth + 1)
    if (inside === undefined) return undefined
    fields += inside
  }
  return fields
}
