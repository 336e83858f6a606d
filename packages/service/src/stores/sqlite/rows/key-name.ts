/** How a key is kept; a tenant is a word, so that the space ends it. */
export function keyName(tenant: string, key: string): string {
  return `${tenant} ${key}`
}
