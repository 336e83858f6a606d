/** A document with one value changed, or added: `clients.0.arrivals.perSecond`. Undefined where the path leads nowhere. */
export function setAt(document: unknown, path: string, value: unknown): unknown {
  const [first = '', ...rest] = path.split('.')
  const isList = Array.isArray(document)
  if (typeof document !== 'object' || document === null || first === '') return undefined
  // A path must not reach what every object has: `__proto__` is no field of a document.
  const known = Object.hasOwn(document, first) ? (document as { readonly [field: string]: unknown })[first] : undefined
  if (isList && known === undefined) return undefined
  const changed = rest.length === 0 ? value : setAt(known ?? {}, rest.join('.'), value)
  if (changed === undefined) return undefined
  if (isList) return document.map((entry: unknown, index) => (String(index) === first ? changed : entry))
  return Object.fromEntries([...Object.entries(document).filter(([field]) => field !== first), [first, changed]])
}
