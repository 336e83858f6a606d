const LONGEST_NAME = 253
const LONGEST_LABEL = 63

/** RFC 1035 §2.3.4: whether a resolver could ever be asked for it. */
export function isHostName(host: string): boolean {
  const name = withoutLastDot(host)
  return name.length <= LONGEST_NAME && name.split('.').every(label => label !== '' && label.length <= LONGEST_LABEL)
}

/** `api.internal.` is `api.internal`: the dot only says that nothing follows. */
export function withoutLastDot(host: string): string {
  return host.endsWith('.') ? host.slice(0, -1) : host
}
