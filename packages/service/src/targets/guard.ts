/**
 * Keeps targets outside. A task's address comes from whoever may post one, and the service stands where its callers do
 * not: beside databases, admin pages and the metadata of the machine.
 *
 *  1. Checked where a socket is opened, for a name may answer one thing at intake and another later.
 *  2. Every address that a name resolves to must be allowed, and the socket is opened to what was checked.
 *  3. An address that stands in the URL itself is checked like one that was resolved.
 */
import ipaddr from 'ipaddr.js'
import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { withoutLastDot } from '../host-name.ts'
import { allowsAddress, allowsHost, type AllowRule } from './allow-target.ts'

/** All addresses of a name; rejects as `dns.lookup` does. Once the signal is aborted nobody waits for the answer. */
export type Lookup = (host: string, signal?: AbortSignal) => Promise<readonly LookupAddress[]>

export interface GuardOptions {
  readonly rules: readonly AllowRule[]
  readonly lookup: Lookup
}

export interface Guard {
  /** The addresses to open a socket to; rejects with a `TargetForbiddenError` if one of them may not be called. */
  resolve(host: string, port: number, signal?: AbortSignal): Promise<readonly LookupAddress[]>
}

/** Nothing was sent, and nothing will be: time does not mend it. */
export class TargetForbiddenError extends Error {
  readonly code = 'target-forbidden'

  override get name(): string {
    return 'TargetForbiddenError'
  }
}

export function createGuard({ rules, lookup }: GuardOptions): Guard {
  const askOnce = sharing(lookup)
  return {
    async resolve(host, port, signal) {
      const family = isIP(host)
      const addresses = family === 0 ? await askOnce(host, signal) : [{ address: host, family }]
      if (addresses.length === 0) throw Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' })
      const refusal = refusalOf({ host, port, addresses, rules })
      if (refusal !== undefined) throw new TargetForbiddenError(refusal)
      return addresses
    },
  }
}

/**
 * What can be said of a target before its name is resolved: why it is refused, or undefined. It spares callers a task
 * that can only fail; the check that counts is the guard's.
 */
export function checkTarget(targetUrl: string, rules: readonly AllowRule[]): string | undefined {
  const url = URL.parse(targetUrl)
  if (url === null || !(url.protocol in DEFAULT_PORTS)) return 'is no http or https URL'
  const { host, port } = placeOf(url)
  const isLocal = /(?:^|\.)localhost$/.test(withoutLastDot(host))
  const addresses = isLocal ? LOCALHOST : isIP(host) === 0 ? [] : [{ address: host }]
  return refusalOf({ host, port, addresses, rules })
}

/** RFC 6761 §6.3: no resolver needs to be asked. */
const LOCALHOST = [{ address: '127.0.0.1' }, { address: '::1' }]

const DEFAULT_PORTS: { readonly [protocol: string]: number } = { 'http:': 80, 'https:': 443 }

/** Where a URL leads, with an IPv6 address out of its brackets. */
export function placeOf({ hostname, port, protocol }: URL): { readonly host: string; readonly port: number } {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return { host, port: port === '' ? (DEFAULT_PORTS[protocol] ?? 0) : Number(port) }
}

interface Place {
  readonly host: string
  readonly port: number
  readonly addresses: readonly { readonly address: string }[]
  readonly rules: readonly AllowRule[]
}

function refusalOf({ host, port, addresses, rules }: Place): string | undefined {
  if (allowsHost(rules, host, port)) return undefined
  for (const { address } of addresses) {
    const kind = insideKind(address)
    // The kind and not the address: whoever may post a task is not told the map of the network.
    if (kind !== undefined && !allowsAddress(rules, address, port)) return sayForbidden(host, port, kind)
  }
  return undefined
}

function sayForbidden(host: string, port: number, kind: string): string {
  const verb = isIP(host) === 0 ? 'resolves to' : 'is'
  const place = isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`
  return `${host} ${verb} an address inside (${kind}); an operator may allow it with --allow-target ${place}`
}

/** A lookup, and how many wait for its answer. */
interface SharedLookup {
  readonly answer: Promise<readonly LookupAddress[]>
  readonly left: AbortController
  askers: number
}

/**
 * Whoever asks for a name that is being asked for gets the same answer: a dead name that a hundred attempts wait for is one
 * question. It is given up when all of them have gone.
 */
function sharing(lookup: Lookup): Lookup {
  const underWay = new Map<string, SharedLookup>()
  const begin = (host: string): SharedLookup => {
    const left = new AbortController()
    const shared = { answer: lookup(host, left.signal).finally(() => forget(host, shared)), left, askers: 0 }
    underWay.set(host, shared)
    return shared
  }
  const forget = (host: string, shared: SharedLookup): void => {
    if (underWay.get(host) === shared) underWay.delete(host)
  }
  return async (host, signal) => {
    const shared = underWay.get(host) ?? begin(host)
    shared.askers++
    const leave = (): void => {
      if (--shared.askers > 0) return
      forget(host, shared)
      shared.left.abort()
    }
    signal?.addEventListener('abort', leave)
    try {
      return await shared.answer
    } finally {
      signal?.removeEventListener('abort', leave)
    }
  }
}

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
