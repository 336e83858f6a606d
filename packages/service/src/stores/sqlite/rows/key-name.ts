/** How a key is kept; a tenant is a word, so that the space ends it. */
export function keyName(tenant: string, key: string): string {
  return `${tenant} ${key}`
}

/** The same for a key of the tenant of a lane, whose name begins with the tenant's and a space. */
export function keyNameIn(lane: string, key: string): string {
  return lane.slice(0, lane.indexOf(' ') + 1) + key
}
