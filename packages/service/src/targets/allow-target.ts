import { isIP } from 'node:net'
import { withoutLastDot } from '../host-name.ts'
import ipaddr from 'ipaddr.js'

/** What an operator allows though it is inside: a name, whatever it resolves to, or a network, whatever leads there. */
export type AllowRule =
  | { readonly kind: 'host'; readonly host: string; readonly port?: number }
  | { readonly kind: 'network'; readonly network: string; readonly port?: number }

/** For development: this machine itself. */
export const LOOPBACK_RULES: readonly AllowRule[] = [
  { kind: 'network', network: '127.0.0.0/8' },
  { kind: 'network', network: '::1/128' },
]

/** `must` says what would be right. */
export type AllowTargetRead =
  | { readonly rule: AllowRule; readonly must?: undefined }
  | { readonly rule?: undefined; readonly must: string }

/** Reads `api.internal`, `localhost:3000`, `[::1]:3000`, `10.0.0.0/8`, and a bare address of either kind. */
export function parseAllowTarget(text: string): AllowTargetRead {
  const rule = text.includes('/') ? networkRule(text) : hostRule(text)
  return rule === undefined ? { must: sayWrong([text]) } : { rule }
}

/** The same for several: what would be right, and all that is not; undefined where nothing is wrong. */
export function wrongAllowTargets(texts: readonly string[]): string | undefined {
  const wrong = texts.filter(text => parseAllowTarget(text).rule === undefined)
  return wrong.length === 0 ? undefined : sayWrong(wrong)
}

function sayWrong(texts: readonly string[]): string {
  const shown = texts.map(text => `"${text.length > 80 ? `${text.slice(0, 80)}…` : text}"`)
  const verb = texts.length === 1 ? 'is' : 'are'
  return `a host (api.internal), host:port (localhost:3000, [::1]:3000) or CIDR (10.0.0.0/8, fd00::/8); ${shown.join(', ')} ${verb} none of these`
}

/** Whether a name may be called whatever it resolves to. */
export function allowsHost(rules: readonly AllowRule[], host: string, port: number): boolean {
  const name = withoutLastDot(host)
  return rules.some(rule => rule.kind === 'host' && rule.host === name && isPort(rule, port))
}

export function allowsAddress(rules: readonly AllowRule[], address: string, port: number): boolean {
  return rules.some(rule => rule.kind === 'network' && isWithin(address, rule.network) && isPort(rule, port))
}

function isPort(rule: AllowRule, port: number): boolean {
  return rule.port === undefined || rule.port === port
}

const CIDR4 = /^\d+\.\d+\.\d+\.\d+\/\d+$/

function networkRule(text: string): AllowRule | undefined {
  const isCidr = text.includes(':') ? isCidr6(text) : CIDR4.test(text) && ipaddr.IPv4.isValidCIDR(text)
  return isCidr ? { kind: 'network', network: text } : undefined
}

/** IPv4 written as IPv6 is compared as IPv4: a network of such addresses would never be met. */
function isCidr6(text: string): boolean {
  return ipaddr.IPv6.isValidCIDR(text) && !ipaddr.IPv6.parseCIDR(text)[0].isIPv4MappedAddress()
}

const HOST_AND_PORT = /^(?<host>\[[^\]]+\]|[^\s\p{Cc}:[\]/\\?#@*%,]+)(?::(?<port>\d{1,5}))?$/u

function hostRule(text: string): AllowRule | undefined {
  const { host, port: digits } = HOST_AND_PORT.exec(ipaddr.IPv6.isValid(text) ? `[${text}]` : text)?.groups ?? {}
  const port = digits === undefined ? undefined : Number(digits)
  if (host === undefined || port === 0 || (port !== undefined && port > 65_535)) return undefined
  // Spelled as in a target's URL, so that one is compared with the other: small letters, punycode, `127.1` in full.
  const spelled = URL.parse(`http://${host}`)?.hostname
  if (spelled === undefined || spelled === '.') return undefined
  return { ...ruleOf(spelled), ...(port !== undefined && { port }) }
}

function ruleOf(spelled: string): AllowRule {
  const literal = spelled.startsWith('[') ? spelled.slice(1, -1) : spelled
  if (isIP(literal) === 0) return { kind: 'host', host: withoutLastDot(spelled) }
  const address = ipaddr.process(literal)
  return { kind: 'network', network: `${address.toString()}/${address.kind() === 'ipv4' ? 32 : 128}` }
}

/** Whether an address is in a network, which is written as CIDR. An IPv4 address written as IPv6 is the IPv4 address. */
export function isWithin(address: string, network: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  const [base, bits] = ipaddr.parseCIDR(network)
  return parsed.kind() === base.kind() && parsed.match(base, bits)
}
