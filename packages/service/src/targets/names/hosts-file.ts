import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'

/** The names of a hosts file, in small letters, each with all of its addresses: hosts(5). */
export function readHosts(text: string): ReadonlyMap<string, readonly LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    const family = isIP(address)
    if (family === 0) continue
    for (const name of names.map(each => each.toLowerCase())) {
      const known = hosts.get(name)
      if (known === undefined) hosts.set(name, [{ address, family }])
      else known.push({ address, family })
    }
  }
  return hosts
}
