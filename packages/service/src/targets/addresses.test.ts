import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { insideKind, isWithin } from './addresses.ts'

/** Addresses by what they are; the first and the last of a range where it has ends. */
const INSIDE: { readonly [kind: string]: readonly string[] } = {
  unspecified: ['0.0.0.0', '0.255.255.255', '::'],
  loopback: ['127.0.0.1', '127.255.255.255', '::1'],
  private: ['10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255'],
  'link-local': ['169.254.0.0', '169.254.169.254', '169.254.255.255', 'fe80::1', 'febf::1', 'fe80::1%eth0', '::1%lo'],
  'unique-local': ['fc00::', 'fd00:ec2::254', 'fdff:ffff::1'],
  'site-local': ['fec0::1', 'feff::1'],
  'carrier-grade NAT': ['100.64.0.0', '100.100.100.200', '100.127.255.255'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
  broadcast: ['255.255.255.255'],
  reserved: [
    '192.0.0.192', // metadata of Oracle's cloud
    '192.0.2.1', // documentation
    '198.51.100.1',
    '203.0.113.1',
    '198.18.0.0', // benchmarks
    '198.19.255.255',
    '192.88.99.1',
    '192.31.196.1',
    '240.0.0.0',
    '255.255.255.254',
    '2001:db8::1',
    '3fff::1',
    '2001:100::1',
    '4000::1', // given to nobody yet
    '::7f00:1', // IPv4 behind nothing but zeros
    '::a9fe:a9fe',
  ],
  benchmarking: ['2001:2::1'],
  metadata: ['168.63.129.16', '::ffff:168.63.129.16'],
  'IPv4 in IPv6': ['::ffff:0:7f00:1', '64:ff9b:1::7f00:1'],
  '6to4': ['2002:7f00:1::', '2002:808:808::1'],
  Teredo: ['2001::7f00:1', '2001:0:808:808::1'],
  discard: ['100::1'],
  segmentRouting: ['5f00::1'],
  unreadable: ['', 'localhost', '::g', '1.2.3.4.'],
}

describe('an address is inside', () => {
  for (const [kind, addresses] of Object.entries(INSIDE))
    it(`as ${kind}`, () => {
      for (const address of addresses) assert.equal(insideKind(address), kind, address)
    })

  it('if it is an IPv4 address that is inside, written as IPv6', () => {
    const inside = ['127.0.0.1', '10.0.0.1', '169.254.169.254', '100.64.0.1', '224.0.0.1', '0.0.0.0', '192.0.2.1']
    for (const address of inside)
      for (const prefix of ['::ffff:', '64:ff9b::'])
        assert.equal(insideKind(prefix + address), insideKind(address), prefix + address)
  })
})

describe('an address of the public internet', () => {
  it('is outside', () => {
    const outside = [
      '1.1.1.1',
      '8.8.8.8',
      '9.255.255.255',
      '11.0.0.0',
      '100.63.255.255',
      '100.128.0.0',
      '126.255.255.255',
      '128.0.0.0',
      '169.253.255.255',
      '169.255.0.0',
      '172.15.255.255',
      '172.32.0.0',
      '192.167.255.255',
      '192.169.0.0',
      '223.255.255.255',
      '2606:4700::1111',
      '2a00:1450::1',
    ]
    for (const address of outside) assert.equal(insideKind(address), undefined, address)
  })

  it('is outside behind a NAT64, and as an IPv4 address written as IPv6', () => {
    for (const address of ['64:ff9b::8.8.8.8', '::ffff:8.8.8.8']) assert.equal(insideKind(address), undefined, address)
  })
})

describe('any text', () => {
  it('has an answer', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.ipV4(), fc.ipV6()), text => void insideKind(text)))
  })

  it('that is an IPv4 address is the same in all spellings that reach it', () => {
    fc.assert(
      fc.property(fc.ipV4(), address => {
        assert.equal(insideKind(`::ffff:${address}`), insideKind(address))
        assert.equal(insideKind(`64:ff9b::${address}`), insideKind(address))
      }),
    )
  })
})

describe('a network', () => {
  it('holds its own addresses, also those of IPv4 that are written as IPv6', () => {
    const held = [
      ['10.1.2.3', '10.0.0.0/8'],
      ['10.1.2.3', '10.1.2.3/32'],
      ['::ffff:10.1.2.3', '10.0.0.0/8'],
      ['fd00::7', 'fd00::/8'],
      ['::1', '::1/128'],
    ] as const
    for (const [address, network] of held) assert.ok(isWithin(address, network), `${address} in ${network}`)
  })

  it('holds no others', () => {
    const others = [
      ['11.1.2.3', '10.0.0.0/8'],
      ['::1', '0.0.0.0/0'],
      ['127.0.0.1', '::/0'],
      ['localhost', '0.0.0.0/0'],
    ] as const
    for (const [address, network] of others) assert.ok(!isWithin(address, network), `${address} not in ${network}`)
  })
})
