import { BlockList, isIP } from 'node:net'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8)
LOOPBACK.addAddress('::1', 'ipv6')

/** An address that only this machine can reach. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true
  const version = isIP(host)
  return version !== 0 && LOOPBACK.check(host, version === 6 ? 'ipv6' : 'ipv4')
}
