import ipaddr from 'ipaddr.js'

/**
 * What keeps an address from being a target, in a word or two; undefined for an address of the public internet.
 *
 * Everything is inside that the registries of special addresses (RFC 6890 and its followers) name, and whatever is not
 * yet given to anybody: an address that no stranger could have is no stranger's.
 */
export function insideKind(address: string): string | undefined {
  if (!ipaddr.isValid(address)) return 'unreadable'
  const parsed = ipaddr.parse(address)
  return parsed instanceof ipaddr.IPv4 ? insideKindOf4(parsed) : insideKindOf6(parsed)
}

/** Whether an address is in a network, which is written as CIDR. An IPv4 address written as IPv6 is the IPv4 address. */
export function isWithin(address: string, network: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  const [base, bits] = ipaddr.parseCIDR(network)
  return parsed.kind() === base.kind() && parsed.match(base, bits)
}

/** Azure answers its machines here, at an address that looks like anybody's. */
const METADATA = '168.63.129.16'

const NAMES: { readonly [range: string]: string } = {
  carrierGradeNat: 'carrier-grade NAT',
  linkLocal: 'link-local',
  uniqueLocal: 'unique-local',
  deprecatedSiteLocal: 'site-local',
  // 192.0.2.0/24 and its like: documentation, benchmarks, protocols, the future.
  reserved: 'reserved',
  as112: 'reserved',
  as112v6: 'reserved',
  amt: 'reserved',
  rfc6145: 'IPv4 in IPv6',
  rfc6052: 'IPv4 in IPv6',
  teredo: 'Teredo',
}

function insideKindOf4(address: ipaddr.IPv4): string | undefined {
  if (address.toString() === METADATA) return 'metadata'
  const range = address.range()
  return range === 'unicast' ? undefined : (NAMES[range] ?? range)
}

/** RFC 6052 §2.1: behind this prefix a NAT64 reaches the IPv4 address in the last four bytes. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

/** RFC 4291 §2.4: so far nobody was given an address outside of it. */
const GLOBAL = ipaddr.IPv6.parseCIDR('2000::/3')

function insideKindOf6(address: ipaddr.IPv6): string | undefined {
  // A zone is an interface of this machine.
  if (address.zoneId !== undefined) return 'link-local'
  if (address.isIPv4MappedAddress() || address.match(NAT64)) return insideKindOf4(lastFourBytes(address))
  const range = address.range()
  if (range !== 'unicast') return NAMES[range] ?? range
  // `::7f00:1` among them: an IPv4 address with nothing but zeros before it.
  return address.match(GLOBAL) ? undefined : 'reserved'
}

function lastFourBytes(address: ipaddr.IPv6): ipaddr.IPv4 {
  return new ipaddr.IPv4(address.toByteArray().slice(-4))
}
