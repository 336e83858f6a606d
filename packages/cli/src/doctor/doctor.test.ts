import type { Destination, PolicyVersion } from '@secondwind/client'
import { presets } from '@secondwind/resilience'
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, onTestFinished, vi } from 'vitest'
import { inPipe } from '../command-line.test-kit.ts'
import { anAnswer, aService } from '../remote/service.test-kit.ts'
import { checkDisk, checkFileSystem, checkRoom, checkSync } from './data-directory.ts'
import type { Finding, Level } from './finding.ts'
import { checkDescriptors } from './machine.ts'
import { checkClock, checkDestinations, checkPolicies, checkVersion } from './service.ts'

interface Report {
  readonly counts: { readonly [level in Level]: number }
  readonly findings: readonly Finding[]
  readonly verdict: string
}

function aDirectory(mode = 0o700): string {
  const directory = mkdtempSync(join(tmpdir(), 'secondwind-doctor-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  chmodSync(directory, mode)
  return directory
}

/** What was found at this check. */
const levelOf = ({ findings }: Pick<Report, 'findings'>, check: string): string | undefined =>
  findings.find(finding => finding.check === check)?.level

const reportOf = (stdout: string): Report => JSON.parse(stdout) as Report

describe('secondwind doctor', () => {
  it('finds nothing wrong with a service that has just begun, and leaves nothing behind', async () => {
    const { inPipe: atService } = await aService()
    const data = aDirectory()
    const { stdout, exitCode, stderr } = await atService(['doctor', '--data', data, '--json'])
    const report = reportOf(stdout)
    const checks = ['settings', 'node', 'permissions', 'service', 'version', 'clock', 'ready', 'policies', 'late tasks']
    for (const check of checks) assert.equal(levelOf(report, check), 'ok', `${check} ${stdout}`)
    assert.deepEqual([exitCode, stderr, readdirSync(data)], [0, '', []])
  })

  it('warns of dead letters and of a directory that others can read; with --strict that is a no', async () => {
    const { aTask, client, inPipe: atService, atTerminal } = await aService()
    await client.waitFor((await aTask('400')).taskId)
    const words = ['doctor', '--data', aDirectory(0o755)]
    const { stdout, exitCode } = await atService([...words, '--json'])
    assert.deepEqual(
      [levelOf(reportOf(stdout), 'permissions'), levelOf(reportOf(stdout), 'dead letters'), exitCode],
      ['warn', 'warn', 0],
    )
    const people = await atTerminal([...words, '--strict'], { columns: 120 })
    assert.equal(people.exitCode, 6)
    assert.match(people.stdout, /! warn {5}permissions {3}Others on this machine .*\n +do {2}chmod 700 /)
    assert.match(people.stdout, /\n\n\d+ ok, \d+ to look at, 0 bad\.\n$/)
  })

  it('says that nothing answers, and all that is wrong with the settings, at once', async () => {
    const words = ['doctor', '--port', 'x', '--concurrency', '0', '--url', 'http://127.0.0.1:9', '--json']
    const { stdout, exitCode } = await inPipe(words)
    const { findings } = reportOf(stdout)
    const badOnes = findings.filter(({ level }) => level === 'bad').map(({ check }) => check)
    assert.deepEqual([badOnes, exitCode], [['settings', 'settings', 'service'], 6])
  })

  it('looks into the data directory whatever is wrong with other settings', async () => {
    const words = ['doctor', '--concurrency', '0', '--data', aDirectory(0o755), '--url', 'http://127.0.0.1:9', '--json']
    assert.equal(levelOf(reportOf((await inPipe(words)).stdout), 'permissions'), 'warn')
  })

  it('takes a service that listens on every address for one of this machine', async () => {
    const { url } = await aService()
    const folder = aDirectory()
    const [key, config] = [join(folder, 'key'), join(folder, 'service.json')]
    writeFileSync(key, 'a-key-of-some-forty-characters-for-everything\n')
    writeFileSync(config, JSON.stringify({ host: '0.0.0.0', port: Number(new URL(url).port), data: aDirectory() }))
    const report = reportOf((await inPipe(['doctor', '--config', config, '--key-file', key, '--json'])).stdout)
    assert.deepEqual(
      ['bind', 'service', 'permissions', 'key'].map(check => levelOf(report, check)),
      ['bad', 'ok', 'ok', undefined],
    )
  })

  it('lets settings pass with which nobody has started a service yet, and no service that was named', async () => {
    const folder = aDirectory()
    const config = join(folder, 'service.json')
    writeFileSync(config, JSON.stringify({ port: 9, data: join(folder, 'data') }))
    const ahead = await inPipe(['doctor', '--config', config, '--json'])
    assert.deepEqual([levelOf(reportOf(ahead.stdout), 'service'), ahead.exitCode], ['warn', 0], ahead.stdout)
    const named = await inPipe(['doctor', '--config', config, '--url', 'http://127.0.0.1:9', '--json'])
    assert.deepEqual([levelOf(reportOf(named.stdout), 'service'), named.exitCode], ['bad', 6])
    vi.stubEnv('SECONDWIND_URL', 'http://127.0.0.1:9')
    onTestFinished(() => void vi.unstubAllEnvs())
    const meantForOthers = await inPipe(['doctor', '--config', config, '--json'])
    assert.deepEqual([levelOf(reportOf(meantForOthers.stdout), 'service'), meantForOthers.exitCode], ['warn', 0])
  })

  it.runIf(existsSync('/proc/self'))('tries whether a data directory can be made in its place', async () => {
    const words = ['doctor', '--data', '/proc/secondwind', '--url', 'http://127.0.0.1:9', '--json']
    assert.equal(levelOf(reportOf((await inPipe(words)).stdout), 'data'), 'bad')
  })

  it('finds an address that others can reach, unless there is a key for everything', async () => {
    const words = ['doctor', '--host', '0.0.0.0', '--store', 'memory', '--url', 'http://127.0.0.1:9', '--json']
    const without = reportOf((await inPipe(words)).stdout)
    assert.equal(levelOf(without, 'bind'), 'bad', 'a store that is not there has no keys')
    const empty = [...words.filter(word => !['--store', 'memory'].includes(word)), '--data', aDirectory()]
    assert.equal(levelOf(reportOf((await inPipe(empty)).stdout), 'bind'), 'bad', 'nor has an empty one')
    assert.ok(!JSON.stringify(without).includes('can be started'))
    const file = join(aDirectory(), 'admin.key')
    writeFileSync(file, 'a-key-of-some-forty-characters-for-everything\n')
    const { stdout } = await inPipe([...words, '--admin-key-file', file])
    assert.equal(levelOf(reportOf(stdout), 'bind'), 'ok')
    assert.doesNotMatch(stdout, /a-key-of/)
  })

  it('looks where these settings would have the service listen', async () => {
    const { url } = await aService()
    const words = ['doctor', '--port', new URL(url).port, '--data', aDirectory(), '--json']
    assert.equal(levelOf(reportOf((await inPipe(words)).stdout), 'service'), 'ok')
  })

  it('warns of each thing that is switched off, with who, why, since when, and the line that ends it', async () => {
    const { aTask, client, url, inPipe: atService } = await aService()
    await client.waitFor((await aTask('200')).taskId)
    const reason = 'INC-2231'
    const { controlId } = await client.controls.create({ level: 'dispatch-off', scope: { kind: 'all' }, reason })
    await client.destinations.pause(url, { reason })
    await client.destinations.drain(url, { reason })
    await client.destinations.force(url, { breaker: 'open', reason })
    const words = ['doctor', '--data', aDirectory(), '--json']
    const warned = reportOf((await atService(words)).stdout).findings.filter(({ check }) =>
      ['kill switch', 'by hand'].includes(check),
    )
    for (const { level, say } of warned) {
      assert.equal(level, 'warn')
      assert.match(say, /INC-2231.*since \S+, (?:now|.* ago), by local|since \S+, (?:now|.* ago), by local: INC-2231/)
    }
    const ends = [
      `kill off ${controlId}`,
      `resume ${url}`,
      `destinations undrain ${url}`,
      `destinations breaker ${url} --set auto`,
    ]
    assert.deepEqual(
      warned.map(({ next }) => next),
      ends.map(end => `secondwind ${end} --url ${url}`),
    )
    for (const end of ends) assert.equal((await atService(end.split(' '))).exitCode, 0, end)
    const calm = reportOf((await atService(words)).stdout)
    assert.equal(levelOf(calm, 'by hand'), 'ok')
  })

  it('sees what is stopped before its first task', async () => {
    const { client, url, inPipe: atService } = await aService()
    const quiet = 'https://quiet.example'
    await client.destinations.pause(quiet, { reason: 'INC-2231' })
    const report = reportOf((await atService(['doctor', '--data', aDirectory(), '--json'])).stdout)
    const found = report.findings.filter(({ check }) => check === 'by hand')
    assert.deepEqual(
      found.map(({ level, next }) => [level, next]),
      [['warn', `secondwind resume ${quiet} --url ${url}`]],
    )
  })

  it('tells another program, an old service and a wrong clock from a sound one', async () => {
    const other = await anAnswer((_, response) => void response.end('<html>'))
    const data = ['--data', aDirectory(), '--json']
    const stranger = reportOf((await inPipe(['doctor', '--url', other, ...data])).stdout)
    assert.equal(levelOf(stranger, 'service'), 'bad')
    const old = await anAnswer(({ url }, response) => {
      const alive = { status: 'alive', version: '0.0.1', answeredAt: 1_000 }
      response.end(JSON.stringify(url === '/healthz' ? alive : { status: 'ready', clockSkewMs: 5_000, items: [] }))
    })
    const report = reportOf((await inPipe(['doctor', '--url', old, ...data])).stdout)
    assert.deepEqual(
      ['version', 'clock', 'ready'].map(check => levelOf(report, check)),
      ['warn', 'bad', 'warn'],
    )
  })

  it('does not say that a service sends which a kill switch keeps from it', async () => {
    const { client, inPipe: atService } = await aService()
    await client.controls.create({ level: 'dispatch-off', scope: { kind: 'all' }, reason: 'INC-2231' })
    const { findings } = reportOf((await atService(['doctor', '--json'])).stdout)
    const ready = findings.find(({ check }) => check === 'ready')
    assert.deepEqual([ready?.level, ready?.say], ['warn', 'It works, but a kill switch keeps it from sending tasks.'])
  })

  it('judges no directory that is perhaps not the one of the service', async () => {
    const { url, inPipe: atService } = await aService()
    const { findings, counts, verdict } = reportOf((await atService(['doctor', '--json'])).stdout)
    const found = findings.find(({ check }) => check === 'data')!
    assert.match(found.say, new RegExp(`^Where ${url} keeps its data`))
    assert.deepEqual([found.level, counts.skipped], ['skipped', 1], 'what was not looked at is not ok')
    assert.match(verdict, /^\d+ ok, \d+ to look at, \d+ bad, 1 skipped\.$/)
    assert.equal(findings.filter(({ level }) => level === 'ok').length, counts.ok)
    assert.equal(levelOf({ findings }, 'disk'), undefined)
  })

  it('mentions files with a key that others can read', async () => {
    const folder = aDirectory()
    const [file, config] = [join(folder, 'admin.key'), join(folder, 'secondwind.json')]
    writeFileSync(file, 'k'.repeat(40), { mode: 0o644 })
    writeFileSync(config, JSON.stringify({ 'admin-key-file': file }))
    const ways = [
      ['--admin-key-file', file],
      ['--key-file', file],
      ['--config', config],
    ]
    for (const way of ways) {
      const words = ['doctor', ...way, '--url', 'http://127.0.0.1:9', '--json']
      const found = reportOf((await inPipe(words)).stdout).findings.find(({ check }) => check === 'key file')
      assert.deepEqual([found?.level, found?.next], ['warn', `chmod 600 ${file}`], way.join(' '))
    }
    chmodSync(file, 0o600)
    const words = ['doctor', '--key-file', file, '--url', 'http://127.0.0.1:9', '--json']
    assert.equal(levelOf(reportOf((await inPipe(words)).stdout), 'key file'), 'ok')
  })

  it('says when it may not look, and what a data directory is that is none', async () => {
    const locked = await anAnswer(({ url }, response) => {
      const alive = { status: 'alive', version: '0.1.0', answeredAt: 1_000 }
      if (url === '/healthz' || url === '/readyz')
        return void response.end(JSON.stringify({ ...alive, clockSkewMs: 0 }))
      response.writeHead(401).end('{"code":"unauthenticated","detail":"A key is needed."}')
    })
    const file = join(aDirectory(), 'file')
    writeFileSync(file, '')
    const report = reportOf((await inPipe(['doctor', '--url', locked, '--data', file, '--json'])).stdout)
    assert.deepEqual([levelOf(report, 'key'), levelOf(report, 'data')], ['bad', 'bad'])
    const missing = reportOf((await inPipe(['doctor', '--url', locked, '--data', `${file}/x/y`, '--json'])).stdout)
    assert.equal(levelOf(missing, 'data'), 'bad')
  })
})

describe('a finding is ok, worth a look, or bad', () => {
  const typed = (...words: readonly string[]): string => words.join(' ')
  const levels = (findings: readonly Finding[]): readonly string[] => findings.map(({ level }) => level)

  it('by how much room there is, and how fast the disk is', () => {
    const room = (freeBytes: number): string => checkRoom({ freeBytes, allBytes: 1e12, isBelowFloor: false }).level
    assert.deepEqual([room(1e10), room(5e8)], ['ok', 'warn'])
    assert.deepEqual([checkSync(2).level, checkSync(50).level, checkSync(900).level], ['ok', 'warn', 'bad'])
  })

  it('by whether the service itself would take tasks in', () => {
    const found = checkRoom({ freeBytes: 200 * 1_048_576, allBytes: 1e12, isBelowFloor: true })
    assert.deepEqual(
      [found.level, found.say],
      ['bad', '200 MiB of 953,674 MiB are free. With so little the service takes no tasks and no uploads.'],
    )
  })

  it('by whether the disk takes a write at all: a full one is no bug', () => {
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
    const found = checkDisk(() => {
      throw full
    })
    assert.deepEqual([found.level, found.say], ['bad', 'It takes no write: ENOSPC: no space left on device, write.'])
    assert.equal(checkDisk(() => 2).level, 'ok')
  })

  it('by where the files are: on a disk, in memory, on a network', () => {
    assert.deepEqual(
      [0xef53, 0x01021994, 0x6969].map(type => checkFileSystem(type).level),
      ['ok', 'warn', 'bad'],
    )
  })

  it('by how many sockets may be open for the requests at once', () => {
    const limits = [1_024, 300, 64]
    assert.deepEqual(
      limits.map(limit => checkDescriptors(limit, 100).level),
      ['ok', 'warn', 'bad'],
    )
  })

  it('by how far two clocks and two versions are apart', () => {
    assert.deepEqual(
      [100, -5_000, 60_000].map(skewMs => checkClock(skewMs).level),
      ['ok', 'warn', 'bad'],
    )
    assert.match(checkClock(-5_000).say, /5 s behind/)
    assert.deepEqual([checkVersion('1.0.0', '1.0.0').level, checkVersion('2.0.0', '1.0.0').level], ['ok', 'warn'])
  })

  it('by the checklist of the lab, policy for policy', () => {
    const sound: PolicyVersion = { ...presets.service.retry, policyId: 'default', version: 1, createdAt: 0 }
    const herd: PolicyVersion = { ...sound, policyId: 'herd', jitterType: 'NONE' }
    assert.deepEqual(levels(checkPolicies([sound], typed)), ['ok'])
    const [finding] = checkPolicies([sound, herd], typed)
    assert.deepEqual([finding!.level, finding!.say.startsWith('herd@1: ')], ['warn', true])
  })

  it('by how late tasks are, and whether retries storm', () => {
    const calm: Destination = {
      destination: 'https://a.example',
      inFlight: 0,
      backlog: 2,
      succeeded: 0,
      exhausted: 0,
      cancelled: 0,
      attempts: 100,
      retryShare: 0,
      oldestDueAt: 1_000_000,
    }
    assert.deepEqual(levels(checkDestinations([calm], 1_030_000, typed)), ['ok', 'ok'])
    const [late] = checkDestinations([{ ...calm, hold: { reason: 'breaker-open' } }], 1_600_000, typed)
    assert.match(late!.say, /^2 wait for https:\/\/a\.example, the first for 10 min, held by breaker-open\.$/)
    const [alone] = checkDestinations([{ ...calm, backlog: 1 }], 1_600_000, typed)
    assert.match(alone!.say, /^1 waits for /)
    const retry = { reason: 'breaker-open', until: 1_004_000, since: 820_000, everyMs: 9_000 } as const
    const broken = checkDestinations([{ ...calm, breaker: 'open', kindHolds: { retry } }], 1_000_000, typed)
    assert.deepEqual(levels(broken), ['warn', 'ok', 'ok'])
    assert.equal(
      broken[0]!.say,
      'The breaker of https://a.example is open: only failures for 3 min, a probe every 9 s, the next in 4 s. 2 wait for it.',
    )
    const recent = { windowMs: 60_000, attempts: 100, retryShare: 0.8 }
    const backlog = 5
    const lastFailure = { at: 999_000, taskId: 'a', attemptNumber: 2, outcome: 'transient' } as const
    assert.deepEqual(levels(checkDestinations([{ ...calm, backlog, recent, lastFailure }], 1_000_000, typed)), [
      'ok',
      'warn',
      'ok',
    ])
  })
})
