import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@secondwind/resilience'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it, onTestFinished } from 'vitest'
import type { Lookup } from '../guard.ts'
import { createSystemLookup, type SystemLookupOptions } from './system-lookup.ts'

const A = 1
const AAAA = 28
const NO_SUCH_NAME = 3

/** What a name server knows; of a name under `silent.test` it says nothing, ever. */
type Zone = { readonly [name: string]: { readonly 1?: readonly string[]; readonly 28?: readonly string[] } }

interface NameServer {
  readonly address: string
  /** Names in the order in which they were asked for, each family by itself. */
  readonly asked: string[]
  /** Another question came. */
  readonly question: () => Promise<unknown>
}

async function nameServer(zone: Zone): Promise<NameServer> {
  const socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = questionOf(query)
    asked.push(`${name} ${type}`)
    socket.emit('question')
    if (!name.endsWith('silent.test')) socket.send(answerOf(query.subarray(0, end), zone[name], type), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  onTestFinished(() => void socket.close())
  const { port } = socket.address()
  return { address: `127.0.0.1:${port}`, asked, question: () => once(socket, 'question') }
}

/** RFC 1035 §4.1.2. */
function questionOf(query: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = []
  let at = 12
  for (; query[at]! > 0; at += query[at]! + 1) labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!))
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function answerOf(question: Buffer, known: Zone[string] | undefined, type: number): Buffer {
  const addresses = (type === A ? known?.[1] : type === AAAA ? known?.[28] : undefined) ?? []
  const head = Buffer.from(question)
  head.writeUInt16BE(0x8180 | (known === undefined ? NO_SUCH_NAME : 0), 2)
  head.writeUInt16BE(addresses.length, 6)
  head.writeUInt32BE(0, 8)
  return Buffer.concat([head, ...addresses.map(address => recordOf(type, address))])
}

function recordOf(type: number, address: string): Buffer {
  const bytes =
    type === A ? address.split('.').map(Number) : Buffer.from(address.replaceAll(':', '').padStart(32, '0'), 'hex')
  const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, bytes.length])
  return Buffer.concat([head, Buffer.from(bytes)])
}

/** A machine with these files. */
function machine({ hosts = '', conf = '' }: { readonly hosts?: string; readonly conf?: string }): {
  readonly options: Pick<SystemLookupOptions, 'hostsFile' | 'resolvConf'>
  writeHosts(text: string): void
} {
  const folder = mkdtempSync(join(tmpdir(), 'secondwind-names-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [hostsFile, resolvConf] = [join(folder, 'hosts'), join(folder, 'resolv.conf')]
  writeFileSync(hostsFile, hosts)
  writeFileSync(resolvConf, conf)
  return { options: { hostsFile, resolvConf }, writeHosts: text => writeFileSync(hostsFile, text) }
}

const addresses = async (lookup: Lookup, host: string): Promise<string[]> =>
  (await lookup(host)).map(({ address }) => address)

describe('a name', () => {
  it('is what its name server says, all addresses of both families', async () => {
    const { address } = await nameServer({ 'api.test': { 1: ['192.0.2.1', '192.0.2.2'], 28: ['::7'] }, 'old.test': {} })
    const lookup = createSystemLookup({ clock: systemClock, servers: [address], ...machine({}).options })
    assert.deepEqual(await addresses(lookup, 'api.test'), ['192.0.2.1', '192.0.2.2', '::7'])
    assert.deepEqual(await lookup('api.test.'), await lookup('API.test'))
    assert.deepEqual(await addresses(lookup, 'old.test'), [])
    assert.deepEqual(await addresses(lookup, 'nobody.test'), [])
  })

  it('is what the hosts file says before any server is asked, and what it says now', async () => {
    const { address, asked } = await nameServer({ 'api.test': { 1: ['192.0.2.1'] } })
    const here = machine({ hosts: '10.0.0.1 api.test\n127.0.0.1 localhost\n' })
    const lookup = createSystemLookup({ clock: systemClock, servers: [address], ...here.options })
    assert.deepEqual(await addresses(lookup, 'API.test.'), ['10.0.0.1'])
    assert.deepEqual(await addresses(lookup, 'localhost'), ['127.0.0.1'])
    assert.deepEqual(asked, [])
    here.writeHosts('10.0.0.22 other.test\n')
    assert.deepEqual(await addresses(lookup, 'other.test'), ['10.0.0.22'])
    assert.deepEqual(await addresses(lookup, 'api.test'), ['192.0.2.1'])
    assert.deepEqual(await addresses(lookup, 'a.localhost'), ['127.0.0.1', '::1'])
  })

  it('that is short is asked for with the search list behind it', async () => {
    const { address, asked } = await nameServer({ 'orders.svc.test': { 1: ['10.0.0.9'] } })
    const { options } = machine({ conf: 'search shop.svc.test svc.test\n' })
    const lookup = createSystemLookup({ clock: systemClock, servers: [address], ...options })
    assert.deepEqual(await addresses(lookup, 'orders'), ['10.0.0.9'])
    assert.deepEqual([...new Set(asked)].toSorted(), [
      'orders.shop.svc.test 1',
      'orders.shop.svc.test 28',
      'orders.svc.test 1',
      'orders.svc.test 28',
    ])
  })

  it('whose server is not there, or refuses, cannot be resolved now', async () => {
    const { options } = machine({})
    const lookup = createSystemLookup({ clock: systemClock, servers: ['127.0.0.1:1'], ...options })
    await assert.rejects(lookup('api.test'), { code: 'EAI_AGAIN' })
  })
})

describe('a name whose server is silent', () => {
  it('keeps nobody waiting: however many there are, others are resolved beside them', async () => {
    const { address, asked, question } = await nameServer({ 'api.test': { 1: ['192.0.2.1'] } })
    const lookup = createSystemLookup({ clock: virtualClock(), servers: [address], ...machine({}).options })
    const left = new AbortController()
    const silent = Array.from({ length: 50 }, (_, n) => lookup(`h${n}.silent.test`, left.signal))
    const ended = Promise.allSettled(silent)
    while (asked.length < 50) await question()
    assert.deepEqual(await addresses(lookup, 'api.test'), ['192.0.2.1'])
    left.abort()
    assert.ok((await ended).every(result => result.status === 'rejected'))
  })

  it('is given up after 2.5 s', async () => {
    const { address, question } = await nameServer({})
    const clock = virtualClock()
    const lookup = createSystemLookup({ clock, servers: [address], ...machine({}).options })
    const asked = question()
    const ended = assert.rejects(lookup('a.silent.test'), { code: 'EAI_AGAIN' })
    await asked
    await clock.advance(2_500)
    await ended
  })
})
