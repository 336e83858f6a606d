import type { RetryTask } from '@secondwind/client'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, it, onTestFinished } from 'vitest'
import { inPipe as commandLineInPipe } from '../command-line.test-kit.ts'
import { aService, anAnswer, aWayTo } from '../remote/service.test-kit.ts'

function aFile(content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'secondwind-batch-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'tasks.ndjson')
  writeFileSync(file, content)
  return file
}

interface Batch {
  readonly created: number
  readonly existing: number
  readonly refused: number
  readonly items: readonly { readonly line: number; readonly result: string; readonly because?: string }[]
}

describe('tasks submit', () => {
  it('takes a policy of its own, and who is told of the end', async () => {
    const { inPipe, url } = await aService()
    const policy = aFile('{"maxAttempts":2,"totalBudgetMs":60000}')
    const callback = `${url}/_flaky/200`
    const words = ['tasks', 'submit', `${url}/_flaky/200`, '--delay', '1h', '--policy-file', policy]
    const { stdout, stderr } = await inPipe([...words, '--callback-url', callback, '--json'])
    const { policyId, policy: own, callbackUrl } = JSON.parse(stdout || stderr) as RetryTask
    assert.deepEqual([policyId, own?.maxAttempts, callbackUrl], ['inline', 2, callback], stderr)
    const wrong = await inPipe(['tasks', 'submit', url, '--policy-file', '{"maxAtempts":2}'])
    assert.match(wrong.stderr, /maxAtempts is an unknown field; did you mean maxAttempts\?/)
  })

  it('takes what stdin brings byte by byte, as it takes a file', async () => {
    const { inPipe } = await aService()
    const got: Buffer[] = []
    const target = await anAnswer((request, response) => {
      void buffer(request).then(bytes => response.end(String(got.push(bytes))))
    })
    const input = Buffer.from([0, 255, 27, 10, 13])
    const { exitCode, stderr } = await inPipe(['tasks', 'submit', target, '--body', '-', '--wait', '20s'], { input })
    assert.deepEqual([exitCode, got], [0, [input]], stderr)
  })

  it('says that a task goes on, however short the wait for it was', async () => {
    const { inPipe, url, client } = await aService()
    const wait = ['--delay', '1h', '--wait', '1ms']
    const { exitCode, stdout, stderr } = await inPipe(['tasks', 'submit', `${url}/_flaky/200`, ...wait])
    assert.equal(exitCode, 6, stderr)
    const { items } = await client.tasks.list().page()
    assert.ok(stdout.includes(items[0]!.taskId) && items.length === 1, stdout)
    assert.match(stdout + stderr, /It has not come to anything within 1 ms; it goes on\./)
  })

  it('says what holds a task that it does not wait for, and proposes what opens that, not an attempt in vain', async () => {
    const { atTerminal, url, client } = await aService()
    await client.destinations.force(url, { breaker: 'open' })
    const held = await atTerminal(['tasks', 'submit', `${url}/_flaky/200`])
    assert.match(held.stdout.replaceAll(/\s+/g, ' '), /due for .* the breaker of http\S+ is held open by hand/)
    assert.match(
      held.stderr,
      /try {2}secondwind tasks watch \S+ .*\n {5}secondwind destinations breaker http\S+ --set auto /,
    )
    assert.doesNotMatch(held.stderr, / attempt-now /)
  })

  it('has handed a task over, whether or not anybody can say what holds it', async () => {
    const { url, client } = await aService()
    const way = await aWayTo(url, ({ url: path = '' }) => assert.doesNotMatch(path, /explain/))
    const words = ['tasks', 'submit', `${url}/_flaky/200`, '--delay', '1h', '--url', way]
    const { exitCode, stderr } = await commandLineInPipe(words)
    assert.equal(exitCode, 0, stderr)
    assert.equal((await client.tasks.list().page()).items.length, 1)
  })

  it('is told how much a task may bring along, and proposes to upload what is larger', async () => {
    const { inPipe, url } = await aService()
    const file = aFile('x'.repeat(2_000_000))
    const { exitCode, stderr } = await inPipe(['tasks', 'submit', `${url}/_flaky/200`, '--body', `@${file}`])
    assert.equal(exitCode, 2)
    assert.match(stderr.replaceAll(/\s+/g, ' '), /error body-too-large .* at most \d+ bytes; .* its bodyRef\./)
    assert.match(stderr, new RegExp(`do {3}secondwind bodies put ${file} `))
  })

  it('says at once all that is wrong with its flags, in their words, and hands nothing over', async () => {
    const { inPipe, url, client } = await aService()
    const submit = ['tasks', 'submit', `${url}/_flaky/200`]
    const wrong = ['--header', 'foo', '--wait', 'x', '--delay', '5', '--not-before', '1h']
    const { exitCode, stderr } = await inPipe([...submit, ...wrong])
    assert.equal(exitCode, 2)
    for (const flag of ['--header must be', '--wait must be', '--delay must not stand beside --not-before'])
      assert.ok(stderr.includes(`\n  ${flag}`), stderr)
    assert.equal((await inPipe([...submit, '--wait', 'x'])).exitCode, 2)
    assert.deepEqual((await client.tasks.list().page({ limit: 1 })).items, [])
  })

  it('repeats no header, no body and no password of an address in an error', async () => {
    const { inPipe, url } = await aService()
    const secret = 'hunter2'
    const address = `http://user:${secret}@127.0.0.1:9/h`
    for (const words of [
      [url, '--header', `authorization: Bearer ${secret}`, '--header', 'x-foo'],
      [url, '--header', `authorization Bearer ${secret}`],
      [`{"targetUrl":"${url}","headers":{"authorization":["Bearer ${secret}"]}}`],
      [url, '--body', secret, '--body-ref', 'sha256-0'],
      [address],
      [address, '--batch', aFile('{}')],
      [url, '--callback-url', address],
    ])
      for (const json of [[], ['--json']]) {
        const { exitCode, stdout, stderr } = await inPipe(['tasks', 'submit', ...words, ...json])
        assert.equal(exitCode, 2, stderr)
        assert.ok(!`${stdout}${stderr}`.includes(secret), stderr)
      }
    const { stderr } = await inPipe(['tasks', 'submit', url, '--header', 'a: b', '--header', 'x-foo'])
    assert.match(stderr, /--header must be a header such as .*, each: number 2 is none \(is \["\[redacted\]",/)
    const elsewhere = await commandLineInPipe(['tasks', 'list', '--url', address])
    assert.match(elsewhere.stderr, /--url must be the address of a service, .* \(is "\[redacted\]"\)/)
  })

  it('without anything to submit says so', async () => {
    const { inPipe } = await aService()
    const { exitCode, stderr } = await inPipe(['tasks', 'submit'])
    assert.equal(exitCode, 2)
    assert.match(stderr, /^error missing-argument[^]*do {3}secondwind tasks submit --help\n$/)
  })
})

describe('tasks submit --batch', () => {
  const line = (path: string, parts: object = {}): string =>
    JSON.stringify({ targetUrl: `https://api.example/${path}`, delayMs: 3_600_000, ...parts })

  it('hands every line over, says what became of each, and exits with 6 unless all were taken', async () => {
    const { inPipe, client } = await aService()
    const keyed = aFile(`${line('a', { idempotencyKey: 'a' })}\n\n${line('b', { idempotencyKey: 'b' })}\n`)
    const first = await inPipe(['tasks', 'submit', '--batch', keyed])
    assert.equal(first.exitCode, 0, first.stderr)
    assert.match(first.stdout, /^line\tresult\ttaskId.*\n1\tcreated\t\S+.*\n3\tcreated\t/)
    assert.match(first.stderr, /^All 2 were taken\.\n/)
    const repeated = await inPipe(['tasks', 'submit', '--batch', keyed])
    assert.match(repeated.stderr, /^All 2 were taken before\.\n/)
    const mixed = aFile([line('a', { idempotencyKey: 'a' }), line('c', { colour: 'red' }), line('d')].join('\n'))
    const second = await inPipe(['tasks', 'submit', '--batch', mixed, '--json'])
    const { created, existing, refused, items } = JSON.parse(second.stdout) as Batch
    assert.deepEqual([second.exitCode, created, existing, refused], [6, 1, 1, 1])
    assert.deepEqual(
      items.map(item => [item.line, item.result]),
      [
        [1, 'existing'],
        [2, 'refused'],
        [3, 'created'],
      ],
    )
    assert.match(items[1]!.because!, /colour is an unknown field/)
    assert.equal((await client.tasks.list().page()).items.length, 3)
  })

  it('says of each that was refused what is to be mended, and fits the terminal', async () => {
    const { atTerminal, url } = await aService()
    const allowed = JSON.stringify({ targetUrl: `${url}/x`, idempotencyKey: 'same', delayMs: 3_600_000 })
    const lines = [line('c', { targetUrl: 'nowhere', colour: 'red' }), allowed, allowed.replace('/x', '/y')]
    const { stdout } = await atTerminal(['tasks', 'submit', '--batch', aFile(lines.join('\n'))], { columns: 80 })
    assert.ok(
      stdout.split('\n').every(text => text.length <= 80),
      stdout,
    )
    const [header = '', ...rows] = stdout.split('\n')
    const because = rows.map(text => text.slice(header.indexOf('BECAUSE')).trim()).join(' ')
    assert.match(because, /^targetUrl must be \S[^\n]*? \(is "nowhere"\); colour is an unknown field \(is "red"\) /)
    assert.doesNotMatch(because, /POST|enqueued/)
  })

  it('says equal refusals once, with their first lines, and proposes to keep a policy that is missing', async () => {
    const { atTerminal, inPipe } = await aService()
    const lines = Array.from({ length: 200 }, (_, index) =>
      line('p', { policyId: 'payments', idempotencyKey: `k${index}` }),
    )
    const file = aFile([line('a', { idempotencyKey: 'a' }), ...lines].join('\n'))
    const { stdout, stderr } = await atTerminal(['tasks', 'submit', '--batch', file], { columns: 80 })
    assert.match(stdout, /2, 3, 4 … {2}200 × refused .*/)
    assert.equal(stdout.match(/ refused {2}/g)?.length, 1, stdout)
    assert.match(stdout.replaceAll(/\s+/g, ' '), /Keep the policies that are missing \(payments\)\./)
    assert.match(stderr, /try {2}secondwind policies put payments\.json --policy-id payments/)
    assert.equal((await inPipe(['tasks', 'submit', '--batch', file])).stdout.match(/\trefused\t/g)?.length, 200)
  })

  it('proposes to send it again only where that makes nothing twice', async () => {
    const { inPipe } = await aService()
    const bad = line('c', { colour: 'red', idempotencyKey: 'c' })
    const keyed = await inPipe(['tasks', 'submit', '--batch', aFile(bad)])
    assert.match(keyed.stderr, /try {2}secondwind tasks submit --batch/)
    assert.doesNotMatch(keyed.stderr, /doctor/, 'the lines are to be mended, not the service')
    const keyless = await inPipe(['tasks', 'submit', '--batch', aFile(`${bad}\n${line('d')}`)])
    assert.doesNotMatch(keyless.stderr, /tasks submit --batch/)
  })

  it('sends nothing of a file of which a line cannot be read, and names every such line', async () => {
    const { inPipe, client } = await aService()
    const { exitCode, stderr } = await inPipe(['tasks', 'submit', '--batch', '-'], { input: `${line('a')}\n{\nx\n` })
    assert.equal(exitCode, 2)
    assert.match(stderr, /^error no-json[^]*line 2 is no JSON[^]*line 3 is no JSON/)
    assert.equal((await inPipe(['tasks', 'submit', '--batch', aFile('\n')])).exitCode, 2)
    assert.equal((await client.tasks.list().page()).items.length, 0)
  })

  it('takes nothing beside it: each line says all of its task', async () => {
    const { inPipe } = await aService()
    const words = ['tasks', 'submit', 'https://api.example', '--method', 'PUT', '--batch', aFile(line('a'))]
    const { exitCode, stderr } = await inPipe(words)
    assert.equal(exitCode, 2)
    assert.match(stderr, /^error wrong-option {2}https:\/\/api\.example, --method cannot stand beside --batch/)
  })
})
