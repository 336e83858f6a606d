/**
 * Names as this machine knows them: its hosts file first, then its name servers with its search list.
 *
 * Not by `getaddrinfo`, which `dns.lookup` calls. That holds a thread until it ends, ten seconds for a name whose server
 * is silent; nobody can end it sooner, and libuv has two threads for it. Whoever posts tasks to some such names would stop
 * deliveries by name for everybody. A question to a name server is a socket: each lookup has its own, none waits
 * for another, and it is closed when nobody waits for the answer. So there are no more of them than attempts under way, and
 * those are shared fairly already.
 *
 * Other sources that nsswitch.conf may name (multicast DNS, NIS, LDAP) are not asked.
 */
import type { Clock } from '@secondwind/resilience'
import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { readFile, stat } from 'node:fs/promises'
import { platform } from 'node:os'
import { withoutLastDot } from '../../host-name.ts'
import type { Lookup } from '../guard.ts'
import { readHosts } from './hosts-file.ts'
import { namesOf, readSearchList } from './search-list.ts'

export interface SystemLookupOptions {
  readonly clock: Clock
  readonly hostsFile?: string
  readonly resolvConf?: string
  /** Those of the system, unless told. */
  readonly servers?: readonly string[]
}

/** Less than a connection may take: so the attempt says that it was the name. */
const LOOKUP_MS = 2_500

/** A datagram can be lost: it is sent again after this. */
const RESEND_MS = 1_000
const TRIES = 2

const HOSTS_FILE = platform() === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts'
const RESOLV_CONF = '/etc/resolv.conf'

/** RFC 6761 §6.3: no name server is asked. */
const LOCALHOST: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

export function createSystemLookup(options: SystemLookupOptions): Lookup {
  const { clock, hostsFile = HOSTS_FILE, resolvConf = RESOLV_CONF, servers } = options
  const hosts = new HostsFile(hostsFile)
  return async (host, signal) => {
    const name = withoutLastDot(host).toLowerCase()
    const known = await hosts.of(name)
    if (known !== undefined) return known
    if (/(?:^|\.)localhost$/.test(name)) return LOCALHOST
    const names = namesOf(host, readSearchList(await unlessAbsent(readFile(resolvConf, 'utf8'), '')))
    signal?.throwIfAborted()
    const resolver = new Resolver({ timeout: RESEND_MS, tries: TRIES })
    if (servers !== undefined) resolver.setServers(servers)
    return inTime(askServers(resolver, names), resolver, clock, signal)
  }
}

/** Read again when it was changed. */
class HostsFile {
  readonly #path: string
  #stamp = ''
  #hosts: ReturnType<typeof readHosts> = new Map()

  constructor(path: string) {
    this.#path = path
  }

  async of(name: string): Promise<readonly LookupAddress[] | undefined> {
    const found = await unlessAbsent(stat(this.#path), undefined)
    const stamp = found === undefined ? '' : `${found.ino} ${found.mtimeMs} ${found.size}`
    if (stamp !== this.#stamp) {
      this.#hosts = readHosts(await unlessAbsent(readFile(this.#path, 'utf8'), ''))
      this.#stamp = stamp
    }
    return this.#hosts.get(name)
  }
}

/** A machine without this file has no such settings. Whatever else goes wrong, such as too many open files, is told. */
async function unlessAbsent<Found, Absent>(reading: Promise<Found>, absent: Absent): Promise<Found | Absent> {
  try {
    return await reading
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return absent
    throw error
  }
}

async function inTime<Answer>(
  answer: Promise<Answer>,
  resolver: Resolver,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const answered = new AbortController()
  const cancel = (): void => resolver.cancel()
  signal?.addEventListener('abort', cancel)
  void clock.sleep(LOOKUP_MS, answered.signal).then(cancel, () => undefined)
  try {
    return await answer
  } finally {
    answered.abort()
    signal?.removeEventListener('abort', cancel)
  }
}

/** The addresses of the first of these names that has any; none when there is no such name. */
async function askServers(resolver: Resolver, names: readonly string[]): Promise<LookupAddress[]> {
  for (const name of names) {
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const addresses = [...addressesOf(four, 4), ...addressesOf(six, 6)]
    if (addresses.length > 0) return addresses
    for (const result of [four, six]) if (result.status === 'rejected') throwUnlessNone(name, result.reason)
  }
  return []
}

function addressesOf(result: PromiseSettledResult<string[]>, family: number): LookupAddress[] {
  return result.status === 'fulfilled' ? result.value.map(address => ({ address, family })) : []
}

/** That there is no such name, or none with an address, is an answer; the rest may pass, and says so in libc's words. */
function throwUnlessNone(name: string, { code }: NodeJS.ErrnoException): void {
  if (code === 'ENOTFOUND' || code === 'ENODATA' || code === 'EBADNAME') return
  throw Object.assign(new Error(`${name} cannot be resolved now: ${code}`), { code: 'EAI_AGAIN' })
}
