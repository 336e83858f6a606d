import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import { newKeyText, writeKey } from './access/key-ring.ts'
import { DEFAULT_CONFIG, readConfig } from './config.ts'
import { isLoopback } from './loopback.ts'

function fileWith(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'secondwind-config-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'secondwind.json')
  writeFileSync(path, text)
  return path
}

function problemsOf(...given: Parameters<typeof readConfig>): readonly string[] {
  return (readConfig(...given).problems ?? []).map(({ at, say }) => `${at} ${say}`)
}

describe('the configuration', () => {
  it('is the defaults where nothing is said', () => {
    assert.deepEqual(readConfig({}, {}).config, DEFAULT_CONFIG)
  })

  it('takes a flag before a variable, and a variable before the file', () => {
    const config = fileWith('{ "port": 1, "data": "file", "concurrency": 3, "allow-target": ["10.0.0.0/8"] }')
    const environment = { SECONDWIND_PORT: '2', SECONDWIND_DATA: 'environment' }
    assert.deepEqual(readConfig({ config, port: '3' }, environment).config, {
      ...DEFAULT_CONFIG,
      port: 3,
      data: 'environment',
      concurrency: 3,
      allowTarget: ['10.0.0.0/8'],
    })
  })

  it('says how many tasks may wait, and how many requests may bring some', () => {
    const { config } = readConfig({ backlog: '5000' }, { SECONDWIND_INTAKE_RATE: '20' })
    assert.deepEqual([config?.backlog, config?.intakePerSecond], [5_000, 20])
    assert.equal(readConfig({ connections: '200' }, {}).config?.connections, 200)
    assert.deepEqual(problemsOf({ backlog: '0', 'intake-rate': 'many' }, {}), [
      '--backlog must be a whole number from 1 to 1000000000',
      '--intake-rate must be a whole number from 1 to 1000000',
    ])
  })

  it('finds the file by its variable, too', () => {
    assert.equal(readConfig({}, { SECONDWIND_CONFIG: fileWith('{"port":7}') }).config?.port, 7)
  })

  it('reads a list from a variable by its commas', () => {
    const { config } = readConfig({}, { SECONDWIND_ALLOW_TARGET: 'ledger.internal:8080,10.1.0.0/16' })
    assert.deepEqual(config?.allowTarget, ['ledger.internal:8080', '10.1.0.0/16'])
  })

  it('reports every problem of every source at once, by the name that was typed', () => {
    const config = fileWith('{ "prot": 1, "concurrency": 0 }')
    const problems = problemsOf({ config, host: 'a b', store: 'mysql' }, { SECONDWIND_PORT: '70000' })
    assert.deepEqual(problems, [
      `${config}: prot is an unknown field; did you mean port?`,
      '--host must be an address or a name to listen on, such as 127.0.0.1 or ::',
      'SECONDWIND_PORT must be a whole number from 0 to 65535',
      '--store must be one of sqlite, memory',
      `${config}: concurrency must be a whole number from 1 to 10000`,
    ])
  })

  for (const [what, text] of [
    ['is no JSON', '{'],
    ['holds no object', '[]'],
  ] as const)
    it(`refuses a file that ${what}`, () => {
      const config = fileWith(text)
      assert.equal(problemsOf({ config }, {}).length, 1)
    })

  it('refuses a file that is not there', () => {
    assert.match(problemsOf({ config: '/nowhere/secondwind.json' }, {})[0]!, /cannot be read: ENOENT/)
  })

  it('takes no key for everything that a service has made: nobody could revoke it', () => {
    const file = fileWith(writeKey(newKeyText(randomBytes)))
    assert.deepEqual(problemsOf({ 'admin-key-file': file }, {}), [
      '--admin-key-file must be a file with a text of its own, not with a key that a service has made',
    ])
    const own = randomBytes(32).toString('hex')
    assert.equal(readConfig({ 'admin-key-file': fileWith(`${own}\n`) }, {}).config?.adminKey, own)
  })

  it('says what an allowed target must be', () => {
    assert.deepEqual(readConfig({ 'allow-target': ['a,b:1', '10.0.0.0/8'] }, {}).config?.allowTarget, [
      'a',
      'b:1',
      '10.0.0.0/8',
    ])
    assert.match(problemsOf({ config: fileWith('{"allow-target":["a,b"]}') }, {})[0]!, /"a,b" is none of these/)
    const both = problemsOf({ config: fileWith('{"allow-target":["a b","10.0.0.0/8","10.1.0.0/99"]}') }, {})
    assert.match(both[0]!, /"a b", "10\.1\.0\.0\/99" are none of these/)
    assert.match(problemsOf({ 'allow-target': ['http://a/b'] }, {})[0]!, /^--allow-target must be /)
  })

  it('knows what only this machine can reach', () => {
    for (const host of ['localhost', '127.0.0.1', '127.9.9.9', '::1']) assert.ok(isLoopback(host), host)
    for (const host of ['0.0.0.0', '::', '10.0.0.1', 'example.com', '127.0.0.1.example.com', ''])
      assert.ok(!isLoopback(host), host)
  })
})
