import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { allowsAddress, allowsHost, LOOPBACK_RULES, parseAllowTarget, type AllowRule } from './allow-target.ts'

const ruleOf = (text: string): AllowRule => parseAllowTarget(text).rule ?? assert.fail(`${text} is a rule`)

/** Also what no text should hold: controls, halves of characters. */
const anyUnit = fc.integer({ min: 0, max: 0xff_ff }).map(code => String.fromCharCode(code))

describe('a rule', () => {
  it('is a host, with or without its port', () => {
    assert.deepEqual(ruleOf('api.internal'), { kind: 'host', host: 'api.internal' })
    assert.deepEqual(ruleOf('localhost:3000'), { kind: 'host', host: 'localhost', port: 3_000 })
  })

  it('is spelled as URLs are: small letters, punycode, no last dot, addresses in full', () => {
    assert.deepEqual(ruleOf('API.Internal.'), { kind: 'host', host: 'api.internal' })
    assert.deepEqual(ruleOf('bücher.example'), { kind: 'host', host: 'xn--bcher-kva.example' })
    assert.deepEqual(ruleOf('127.1:80'), { kind: 'network', network: '127.0.0.1/32', port: 80 })
  })

  it('is an address, and then a network of one', () => {
    assert.deepEqual(ruleOf('10.0.0.5'), { kind: 'network', network: '10.0.0.5/32' })
    assert.deepEqual(ruleOf('10.0.0.5:8080'), { kind: 'network', network: '10.0.0.5/32', port: 8_080 })
    assert.deepEqual(ruleOf('::1'), { kind: 'network', network: '::1/128' })
    assert.deepEqual(ruleOf('[::1]'), { kind: 'network', network: '::1/128' })
    assert.deepEqual(ruleOf('[::1]:3000'), { kind: 'network', network: '::1/128', port: 3_000 })
    assert.deepEqual(ruleOf('[::ffff:10.0.0.5]'), { kind: 'network', network: '10.0.0.5/32' })
  })

  it('is a network', () => {
    assert.deepEqual(ruleOf('10.0.0.0/8'), { kind: 'network', network: '10.0.0.0/8' })
    assert.deepEqual(ruleOf('fd00::/8'), { kind: 'network', network: 'fd00::/8' })
  })

  it('says what would be right when it is none of these', () => {
    const wrong =
      'http://localhost localhost/ user@host *.internal host? host#x . host: host:0 host:65536 host:-1 host:http [::1 ' +
      '[::1]:0 ::1]:80 [localhost] [] 10.0.0.0/33 10.0.0/8 10/8 10.0.0.0/ /8 fd00::/129 0x7f.1/8 ::ffff:0:0/96 ' +
      '1.2.3.256 fe80::1%eth0 ho%73t'
    for (const text of ['', ' ', 'a b', 'a\nb', 'host\u0000', ...wrong.split(' ')]) {
      const { must } = parseAllowTarget(text)
      assert.match(must ?? assert.fail(`${JSON.stringify(text)} is no rule`), /^a host \(api\.internal\).* is none/s)
    }
  })

  it('is read, or refused in a short sentence, whatever was typed', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: anyUnit }), fc.ipV6()), text => {
        const { rule, must } = parseAllowTarget(text)
        assert.notEqual(rule === undefined, must === undefined)
        assert.ok((must ?? '').length < 250)
      }),
    )
  })
})

describe('what rules allow', () => {
  it('is the host they name, and no part of it or around it', () => {
    const rules = [ruleOf('api.internal')]
    assert.ok(allowsHost(rules, 'api.internal', 80) && allowsHost(rules, 'api.internal.', 8_080))
    for (const other of ['internal', 'x.api.internal', 'api.internal.evil.example', 'xapi.internal'])
      assert.ok(!allowsHost(rules, other, 80), other)
  })

  it('is at their port if they name one', () => {
    const rules = [ruleOf('api.internal:8080'), ruleOf('10.0.0.5:8080')]
    assert.deepEqual([allowsHost(rules, 'api.internal', 8_080), allowsHost(rules, 'api.internal', 80)], [true, false])
    assert.deepEqual([allowsAddress(rules, '10.0.0.5', 8_080), allowsAddress(rules, '10.0.0.5', 80)], [true, false])
  })

  it('is every address of their network, whatever name leads there, and no name by itself', () => {
    const rules = [ruleOf('10.0.0.0/8')]
    assert.ok(allowsAddress(rules, '10.9.9.9', 1) && !allowsAddress(rules, '11.0.0.1', 1))
    assert.ok(!allowsHost(rules, '10.9.9.9', 1))
  })

  it('is this machine alone for development', () => {
    for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])
      assert.ok(allowsAddress(LOOPBACK_RULES, address, 80), address)
    for (const address of ['10.0.0.1', '169.254.169.254', '::', '0.0.0.0'])
      assert.ok(!allowsAddress(LOOPBACK_RULES, address, 80), address)
  })
})
