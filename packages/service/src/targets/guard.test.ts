import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { isWithin, LOOPBACK_RULES, parseAllowTarget, type AllowRule } from './allow-target.ts'
import { checkTarget, createGuard, type Guard, insideKind, type Lookup, TargetForbiddenError } from './guard.ts'

const rules = (...texts: readonly string[]): AllowRule[] => texts.map(text => parseAllowTarget(text).rule!)

/** A resolver whose answers are given one after the other; the last one stays. */
function resolver(...answers: readonly (readonly string[])[]): Lookup {
  let asked = 0
  return () => {
    const addresses = answers[Math.min(asked++, answers.length - 1)]!
    return Promise.resolve(addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 })))
  }
}

async function outcomeOf(guard: Guard, host: string, port = 80): Promise<string> {
  return guard.resolve(host, port).then(
    addresses => addresses.map(({ address }) => address).join(' '),
    (error: unknown) => {
      assert.ok(error instanceof TargetForbiddenError)
      return error.message
    },
  )
}

describe('a guard', () => {
  it('lets a name through whose addresses are all outside', async () => {
    const guard = createGuard({ rules: [], lookup: resolver(['1.1.1.1', '2606:4700::1111']) })
    assert.equal(await outcomeOf(guard, 'api.example'), '1.1.1.1 2606:4700::1111')
  })

  it('refuses a name of which one address is inside, wherever it stands', async () => {
    for (const addresses of [
      ['10.0.0.1', '1.1.1.1'],
      ['1.1.1.1', '2606:4700::1111', '::ffff:10.0.0.1'],
    ]) {
      const guard = createGuard({ rules: [], lookup: resolver(addresses) })
      assert.match(await outcomeOf(guard, 'api.example'), /^api\.example resolves to an address inside \(private\)/)
    }
  })

  it('says what kind of address it is, and not which: callers are not told the map of the network', async () => {
    const guard = createGuard({ rules: [], lookup: resolver(['10.11.12.13']) })
    assert.equal(
      await outcomeOf(guard, 'db.internal', 5_432),
      'db.internal resolves to an address inside (private); an operator may allow it with --allow-target db.internal:5432',
    )
  })

  it('asks anew for every socket, and judges every answer by itself', async () => {
    const guard = createGuard({ rules: [], lookup: resolver(['1.1.1.1'], ['127.0.0.1'], ['1.0.0.1']) })
    const seen = [
      await outcomeOf(guard, 'a.example'),
      await outcomeOf(guard, 'a.example'),
      await outcomeOf(guard, 'a.example'),
    ]
    assert.deepEqual([seen[0], seen[2]], ['1.1.1.1', '1.0.0.1'])
    assert.match(seen[1]!, /inside \(loopback\)/)
  })

  it('judges a literal address without asking anybody', async () => {
    const guard = createGuard({ rules: [], lookup: () => assert.fail('nobody is asked') })
    assert.equal(await outcomeOf(guard, '1.1.1.1'), '1.1.1.1')
    assert.match(await outcomeOf(guard, '127.0.0.1'), /^127\.0\.0\.1 is an address inside \(loopback\)/)
    assert.match(await outcomeOf(guard, '::1', 81), /--allow-target \[::1\]:81$/)
  })

  it('lets through what a rule names: a host whatever it resolves to, a network whatever leads there', async () => {
    const lookup = resolver(['10.0.0.1'])
    const named = createGuard({ rules: rules('db.internal:5432'), lookup })
    assert.equal(await outcomeOf(named, 'db.internal', 5_432), '10.0.0.1')
    assert.match(await outcomeOf(named, 'db.internal', 22), /inside/)
    assert.match(await outcomeOf(named, 'other.internal', 5_432), /inside/)
    const network = createGuard({ rules: rules('10.0.0.0/24'), lookup })
    assert.equal(await outcomeOf(network, 'any.example'), '10.0.0.1')
    assert.match(await outcomeOf(network, '10.0.1.1'), /inside/)
  })

  it('refuses a mixture of what a rule allows and what none does', async () => {
    const guard = createGuard({ rules: rules('10.0.0.0/24'), lookup: resolver(['10.0.0.1', '192.168.0.1']) })
    assert.match(await outcomeOf(guard, 'any.example'), /inside/)
  })

  it('asks once for a name that is being asked for, and again once it was answered', async () => {
    let asked = 0
    const guard = createGuard({ rules: [], lookup: async () => [{ address: `1.1.1.${++asked}`, family: 4 }] })
    const both = await Promise.all([outcomeOf(guard, 'a.example'), outcomeOf(guard, 'a.example')])
    assert.deepEqual(both, ['1.1.1.1', '1.1.1.1'])
    assert.equal(await outcomeOf(guard, 'a.example'), '1.1.1.2')
  })

  it('gives a lookup up when all who asked have gone, and then asks anew', async () => {
    const signals: AbortSignal[] = []
    const lookup: Lookup = (_, signal) =>
      new Promise((_resolve, reject) => {
        signals.push(signal!)
        signal!.addEventListener('abort', () => reject(new Error('left')))
      })
    const guard = createGuard({ rules: [], lookup })
    const [one, two] = [new AbortController(), new AbortController()]
    const ended = Promise.allSettled([one, two].map(({ signal }) => guard.resolve('a.example', 80, signal)))
    one.abort()
    assert.deepEqual([signals.length, signals[0]!.aborted], [1, false])
    two.abort()
    assert.ok(signals[0]!.aborted)
    void guard.resolve('a.example', 80)
    assert.deepEqual([signals.length, signals[1]!.aborted], [2, false])
    await ended
  })

  it('passes on what the resolver says, and takes no answer for a name that does not exist', async () => {
    const failing = createGuard({ rules: [], lookup: () => Promise.reject(Object.assign(new Error(), { code: 'X' })) })
    await assert.rejects(failing.resolve('a.example', 80), { code: 'X' })
    const empty = createGuard({ rules: [], lookup: resolver([]) })
    await assert.rejects(empty.resolve('a.example', 80), { code: 'ENOTFOUND' })
  })
})

describe('a target is refused before its name is resolved', () => {
  it('if it is an address inside, however it is spelled, or a name that is always this machine', () => {
    const inside =
      '127.0.0.1 127.1 0x7f.1 0177.0.0.1 2130706433 017700000001 127.0.0.1. 0 0.0.0.0 ' +
      '１２７.０.０.１ ①②⑦.0.0.1 127。0。0。1 %31%32%37.0.0.1 169.254.169.254 10.0.0.1 [::1] [::] ' +
      '[::ffff:7f00:1] [::ffff:127.0.0.1] [0:0:0:0:0:ffff:127.0.0.1] [::127.0.0.1] ' +
      '[64:ff9b::127.0.0.1] [2002:7f00:1::] [fe80::1] [fd00:ec2::254] localhost LOCALHOST. ' +
      'a.localhost localhost:8080'
    for (const host of inside.split(' ')) assert.match(checkTarget(`http://${host}/x`, []) ?? '', /inside/, host)
  })

  it('if it is no http or https URL', () => {
    for (const url of ['', 'x', 'ftp://a.example/', 'file:///etc/passwd', 'http://[fe80::1%25eth0]/', 'http://'])
      assert.equal(checkTarget(url, []), 'is no http or https URL', url)
  })

  it('and not if it is outside, allowed, or a name that only a resolver knows', () => {
    for (const host of ['1.1.1.1', '[2606:4700::1]', 'api.example', 'notlocalhost', 'localhost.example'])
      assert.equal(checkTarget(`https://${host}/`, []), undefined, host)
    for (const host of ['localhost:3000', '127.0.0.1', '[::1]'])
      assert.equal(checkTarget(`http://${host}/`, LOOPBACK_RULES), undefined, host)
    assert.equal(checkTarget('http://localhost/', rules('localhost:80')), undefined)
    assert.match(checkTarget('http://localhost/', rules('localhost:81')) ?? '', /inside/)
    assert.match(checkTarget('http://localhost/', rules('127.0.0.1')) ?? '', /inside/)
  })
})

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
