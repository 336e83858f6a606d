import { UnreachableError } from '@secondwind/client'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import { inPipe, type Ended } from '../command-line.test-kit.ts'
import type { Failure } from '../failure.ts'
import { connect } from './connection.ts'
import { ANSWERED_CODES } from './next-lines.ts'
import { asFailure } from './service-failure.ts'
import { anAnswer, aService } from './service.test-kit.ts'

const TASK_ID = '019a8b1c-5f00-7d3e-9a41-0c2f6e5b7a2a'

/** What the command line says when the service answers like this. */
async function saidOf(
  status: number,
  problem: object | string,
  { words = ['tasks', 'get', TASK_ID], headers = {} }: { words?: readonly string[]; headers?: object } = {},
): Promise<Ended> {
  const url = await anAnswer((request, response) => {
    request.resume()
    response.writeHead(status, { 'content-type': 'application/problem+json', ...headers })
    response.end(typeof problem === 'string' ? problem : JSON.stringify({ status, requestId: 'r-1', ...problem }))
  })
  return inPipe([...words, '--url', url])
}

describe('what the service refuses is told in four parts, with an exit code to go by:', () => {
  it.each([
    [400, 'invalid-request', 2],
    [401, 'unauthenticated', 4],
    [403, 'forbidden', 4],
    [404, 'task-not-found', 3],
    [409, 'wrong-status', 5],
    [422, 'idempotency-conflict', 5],
    [422, 'target-forbidden', 2],
    [429, 'intake-limited', 7],
    [500, 'internal-error', 1],
    [503, 'store-full', 7],
  ])('%i %s exits with %i', async (status, code, expected) => {
    const { stdout, stderr, exitCode } = await saidOf(status, { code, detail: 'What happened.' })
    assert.deepEqual([stdout, exitCode], ['', expected], stderr)
    const [what, empty, because, ...rest] = stderr.split('\n')
    assert.ok(what!.startsWith(`error ${code}  `))
    assert.deepEqual([empty, because], ['', '  What happened.'])
    assert.ok(rest.includes('  Nothing was changed.'), stderr)
  })

  it('every code of the API ends with something to type, and programs get it, too', async () => {
    const words = ['replay', 'status', TASK_ID, '--json', '--tenant', 'acme']
    for (const code of ANSWERED_CODES) {
      const { stderr } = await saidOf(422, { code, detail: 'What happened.' }, { words })
      const { next } = (JSON.parse(stderr) as { error: { next: readonly string[] } }).error
      assert.match(next[0] ?? '', /^(?:secondwind [a-z]|export SECONDWIND_KEY=)/, code)
    }
  })

  it('a key that may not do this is not told to be exported, but to be made wider', async () => {
    const detail = 'It takes a key with the scope operate; this one has read.'
    const { stderr } = await saidOf(403, { code: 'scope-missing', detail })
    assert.match(
      stderr,
      /do {3}secondwind keys create --scope read --scope operate --url \S+ --key-file an-admins-key-file\n/,
    )
    assert.doesNotMatch(stderr, /export/)
  })

  it('a tenant that is not there is not asked for again', async () => {
    const words = ['tasks', 'list', '--tenant', 'acne']
    const { stderr } = await saidOf(404, { code: 'tenant-not-found', detail: 'No.' }, { words })
    assert.match(stderr, /do {3}secondwind tenants list --url \S+\n/)
  })

  it('a target that must not be called is named as the service would allow it', async () => {
    const { inPipe, url } = await aService()
    const target = await inPipe(['tasks', 'submit', 'http://10.1.2.3/charge'])
    assert.match(target.stderr, /do {3}secondwind serve --allow-target 10\.1\.2\.3:80\n/)
    const callback = await inPipe(['tasks', 'submit', `${url}/_flaky/200`, '--callback-url', 'http://[fd00::1]:81/'])
    assert.match(callback.stderr, /do {3}secondwind serve --allow-target '\[fd00::1\]:81'\n/)
  })

  it.each([
    [['tasks', 'get', 'nope'], 'task', 'tasks list'],
    [['replay', 'run', 'nope'], 'replay', 'replay list'],
    [['keys', 'rotate', 'nope'], 'key', 'keys list'],
    [['kill', 'off', 'nope'], 'control', 'kill status'],
  ])('an id that can be none is not there: %s', async (words, noun, line) => {
    const { stderr, exitCode } = await saidOf(500, {}, { words })
    assert.equal(exitCode, 3, stderr)
    assert.ok(stderr.startsWith(`error ${noun}-not-found  there is no such ${noun}\n`), stderr)
    assert.ok(stderr.includes(`do   secondwind ${line} --url`), stderr)
  })

  it('a task in another status is named with it, and with what can be done', async () => {
    const { stderr } = await saidOf(
      409,
      { code: 'wrong-status', detail: 'That does not go.', taskId: TASK_ID, taskStatus: 'EXHAUSTED' },
      { words: ['tasks', 'attempt-now', TASK_ID] },
    )
    assert.match(
      stderr,
      /The task is EXHAUSTED\.\n {2}Nothing was changed\.\n {2}do {3}secondwind tasks replay 019a8b1c/,
    )
  })

  it('a wait that is asked for is said', async () => {
    const { stderr } = await saidOf(
      429,
      { code: 'backlog-full', detail: 'Full.' },
      { headers: { 'retry-after': '60' } },
    )
    assert.match(stderr, /It asks to come back in 1 min\./)
  })

  it('all problems of a request are listed, for programs too', async () => {
    const problems = [{ at: 'limit', is: 0, say: 'must be 1 to 200' }]
    const { stderr } = await saidOf(
      400,
      { code: 'invalid-request', detail: 'The query has a problem.', problems },
      { words: ['tasks', 'get', TASK_ID, '--json'] },
    )
    assert.deepEqual((JSON.parse(stderr) as { error: { problems: unknown } }).error.problems, problems)
  })

  it('a change whose answer failed may have been made, and nobody says otherwise', async () => {
    const { stderr } = await saidOf(
      500,
      { code: 'internal-error', detail: 'A bug.' },
      { words: ['tasks', 'replay', TASK_ID] },
    )
    assert.match(stderr, /Whether it was done nobody knows: look before you try again\./)
    assert.match(stderr, /Its log has more beside r-1\./)
  })

  it.each(['intake-off', 'draining', 'store-unreachable'])(
    'a task that is turned away with %s was not taken, and may come back',
    async code => {
      const { stderr } = await saidOf(
        503,
        { code, detail: 'Not now.' },
        { words: ['tasks', 'submit', 'https://api.example/charge'], headers: { 'retry-after': '51' } },
      )
      assert.match(stderr, /It asks to come back in 51 s\.\n(?: .*\n)? {2}Nothing was changed\./)
    },
  )

  it('a proxy that answers for the service does not know what was done', async () => {
    const { stderr } = await saidOf(503, '<html>', { words: ['tasks', 'replay', TASK_ID] })
    assert.match(stderr, /Whether it was done nobody knows/)
  })

  it('what would steer a terminal is shown, and no line is forged', async () => {
    const evil = '\u001B[2J\r\u202E\u009B\u0007\n  do   rm'
    const problems = [{ at: evil, is: evil, say: evil }]
    const { stderr } = await saidOf(409, { code: evil, detail: evil, problems, taskId: evil, taskStatus: 'PENDING' })
    // oxlint-disable-next-line no-control-regex -- it is about them
    assert.doesNotMatch(stderr, /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202A-\u202E]/)
    assert.ok(stderr.includes(String.raw`  \x1b[2J\x0d\u202e\u009b\x07\x0a  do   rm`), stderr)
    assert.equal(stderr.split('\n').filter(line => line.startsWith('  do ')).length, 1, stderr)
  })

  it('whatever else answers is not taken for the service', async () => {
    const { stderr, exitCode } = await saidOf(200, '<html>hello</html>')
    assert.equal(exitCode, 1)
    assert.match(stderr, /^error unexpected-answer {2}what answers at http:\S+ is not a Secondwind service/)
  })
})

describe('a service that is not there', () => {
  it('is told apart from a refusal: exit code 7, and how to find one', async () => {
    const { stderr, exitCode } = await inPipe(['tasks', 'list', '--url', 'http://127.0.0.1:9'])
    assert.equal(exitCode, 7)
    assert.match(
      stderr,
      /^error unreachable {2}no service answers at http:\/\/127\.0\.0\.1:9\n\n {2}\S+ .*\n {2}Nothing was changed/,
    )
    assert.match(stderr, /do {3}secondwind doctor --url http:\/\/127\.0\.0\.1:9\n/)
  })

  it('that speaks no TLS is asked over http, with all else that was typed', async () => {
    const url = await anAnswer((_, response) => response.end())
    const asTls = url.replace('http:', 'https:')
    const { stderr, exitCode } = await inPipe(['tasks', 'cancel', TASK_ID, '--url', asTls, '--yes'])
    assert.match(
      stderr,
      /^error unreachable .*\n\n {2}What listens there does not speak TLS \(ERR_SSL_\w+\): perhaps http:.*\n {2}Nothing was/,
    )
    assert.ok(stderr.includes(`do   secondwind tasks cancel ${TASK_ID} --yes --url ${url}\n`), stderr)
    assert.equal(exitCode, 7)
    const doctor = await inPipe(['doctor', '--url', asTls])
    assert.match(doctor.stdout, /^bad\tservice\tWhat listens at \S+ does not speak TLS\./m)
  })

  it('that speaks no TLS is sent no key over a network', () => {
    const nextOf = (url: string, hasKey: boolean): readonly string[] | undefined => {
      const asked = { url, hasKey, isChange: false, words: ['who'], args: [], options: {} }
      const cause = Object.assign(new Error('wrong version number'), { code: 'ERR_SSL_WRONG_VERSION_NUMBER' })
      const failure = asFailure(new UnreachableError('GET /', url, cause), { ...asked, typed: () => 'doctor' })
      return (failure as Failure).parts.next
    }
    const plain = ['secondwind who --url http://retries.internal:4747', 'doctor']
    assert.deepEqual(nextOf('https://retries.internal:4747', false), plain)
    assert.deepEqual(nextOf('https://retries.internal:4747', true), ['doctor'])
    assert.deepEqual(nextOf('https://localhost:4747', true), ['secondwind who --url http://localhost:4747', 'doctor'])
  })

  it('where nobody said where it is, is looked for elsewhere, and started only by who has no key of one', () => {
    const nextOf = (url: string, hasKey: boolean): readonly string[] | undefined => {
      const asked = { url, hasKey, isChange: false, words: [], args: [], options: {} }
      const typed = (...words: readonly string[]): string => words.join(' ')
      const failure = asFailure(new UnreachableError('GET /', url, new Error('refused')), { ...asked, typed })
      return (failure as Failure).parts.next
    }
    const elsewhere = 'export SECONDWIND_URL=https://your-service'
    assert.deepEqual(nextOf('http://127.0.0.1:4747', false), ['doctor', elsewhere, 'secondwind dev'])
    assert.deepEqual(nextOf('http://127.0.0.1:4747', true), ['doctor', elsewhere])
    assert.deepEqual(nextOf('https://retries.internal', true), ['doctor'])
  })

  it('is refused at once where its address is none', async () => {
    for (const url of ['http://a:b@127.0.0.1/', 'ftp://127.0.0.1', 'http://127.0.0.1/?a=1', '']) {
      const { stderr, exitCode } = await inPipe(['tasks', 'list', '--url', url])
      assert.equal(exitCode, 2, url)
      assert.match(stderr, /--url must be the address of a service/)
    }
  })

  it('is told with its scheme where only that is missing', async () => {
    for (const url of ['localhost:4747', '127.0.0.1:4747', 'retries.internal']) {
      const { stderr, exitCode } = await inPipe(['tasks', 'list', '--url', url])
      assert.deepEqual([exitCode, stderr.includes(`an address with its scheme: http://${url} (is`)], [2, true], stderr)
    }
  })
})

describe('a key', () => {
  const sent = async (content: string): Promise<{ header: string | undefined; said: Ended }> => {
    const folder = mkdtempSync(join(tmpdir(), 'secondwind-key-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'key')
    writeFileSync(file, content)
    let header: string | undefined
    const url = await anAnswer(({ headers }, response) => {
      header = headers.authorization
      response.writeHead(401).end('{"code":"unauthenticated","detail":"No."}')
    })
    return { said: await inPipe(['tasks', 'list', '--url', url, '--key-file', file]), header }
  }

  it('is read from a file and sent as a bearer token, without its line break', async () => {
    const { header, said } = await sent('sw_example_123\n')
    assert.equal(header, 'Bearer sw_example_123')
    assert.match(said.stderr, /does not know this key/)
    assert.doesNotMatch(said.stderr, /sw_example/)
  })

  it('that cannot be one is refused before anything is sent, and not shown', async () => {
    const { header, said } = await sent('two words\nand a line')
    assert.equal(header, undefined)
    assert.equal(said.exitCode, 4)
    assert.match(said.stderr, /^error no-key {2}there is no key in /)
    assert.doesNotMatch(said.stderr, /two words/)
  })

  it('that is not there is told as a wrong one is, by the exit code', async () => {
    const { exitCode, stderr } = await inPipe(['tasks', 'list', '--key-file', 'no-such-file'])
    assert.equal(exitCode, 4)
    assert.match(stderr, /^error no-key {2}there is no key in no-such-file\n/)
  })

  it('is nowhere a flag: help says why', async () => {
    const { stdout } = await inPipe(['tasks', 'list', '--help'])
    assert.match(stdout.replaceAll(/\s+/g, ' '), /A key is no flag: everybody on a machine can read flags/)
    const { url } = await aService()
    assert.equal((await inPipe(['tasks', 'list', '--key', 'x', '--url', url])).exitCode, 2)
  })
})

describe('where the service is', () => {
  it('is told by the name of the variable, where that says it wrong and no flag says it', () => {
    const environment = { SECONDWIND_URL: 'http://user:hunter2@host' }
    assert.throws(() => connect({}, environment), /^Error: SECONDWIND_URL cannot be read$/)
    assert.equal(connect({ url: 'http://127.0.0.1:4747' }, environment).url, 'http://127.0.0.1:4747')
    assert.throws(() => connect({}, { SECONDWIND_TENANT: 'A B' }), /^Error: SECONDWIND_TENANT cannot be read$/)
  })
})
