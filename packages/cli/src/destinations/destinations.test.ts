import type { Destination } from '@secondwind/client'
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { atTerminal } from '../command-line.test-kit.ts'
import { anAnswer, aService, aTenantOf } from '../remote/service.test-kit.ts'
import { temporaryDirectory } from '../service/serve.test-kit.ts'
import { spareIt } from './next-steps.ts'
import { stormOf } from './storm.ts'

const calm: Destination = {
  destination: 'https://calm.example',
  inFlight: 0,
  backlog: 0,
  succeeded: 99,
  exhausted: 0,
  cancelled: 0,
  attempts: 100,
  retryShare: 0.01,
}

describe('destinations', () => {
  it('are listed, and one of them is shown with its gates', async () => {
    const { aTask, client, url, atTerminal: type, inPipe } = await aService()
    await client.waitFor((await aTask('503')).taskId)
    assert.equal((await inPipe(['destinations', 'list', '--ids'])).stdout, `${url}\n`)
    const { stdout } = await type(['destinations', 'get', url])
    assert.match(
      stdout.replaceAll(/\s+/g, ' '),
      /last 1 min 2 attempts: 1 first attempt, 1 retry attempts 2, of which 50 % retries succeeded 1 /,
    )
    const unknown = await inPipe(['destinations', 'get', 'nobody'])
    assert.deepEqual([unknown.exitCode, unknown.stderr.includes('error destination-not-found')], [3, true])
  })

  it('that nothing was ever sent to are not shown as if they were known: which was meant is asked', async () => {
    const { aTask, client, url, inPipe } = await aService()
    await client.waitFor((await aTask('200')).taskId)
    const wrongPort = 'http://127.0.0.1:9'
    const { exitCode, stdout, stderr } = await inPipe(['destinations', 'get', wrongPort])
    assert.deepEqual([exitCode, stdout], [3, ''])
    assert.ok(stderr.includes(`nothing was ever sent to ${wrongPort}; did you mean ${url}?`), stderr)
    assert.match(stderr, new RegExp(`do {3}secondwind destinations get ${url} --url`))
    for (const list of [
      ['tasks', 'list'],
      ['dead', 'list'],
      ['dead', 'causes'],
    ]) {
      const empty = await inPipe([...list, '--destination', wrongPort])
      assert.equal(empty.exitCode, 0, 'an empty list is an answer')
      assert.match(empty.stderr, new RegExp(`^nothing was ever sent to ${wrongPort}; did you mean ${url}\\?\n`))
      assert.match(empty.stderr, new RegExp(`try {2}secondwind ${list.join(' ')} --destination ${url} --url`))
    }
    assert.match(
      (await inPipe(['tasks', 'list', '--destination', 'nobody'])).stderr,
      /--destination must be an origin such as https:\/\/api\.example, or the name of a destination/,
    )
    const slashed = await inPipe(['tasks', 'list', '--destination', `${url}/`, '--json'])
    assert.equal((JSON.parse(slashed.stdout) as { items: readonly object[] }).items.length, 1)
    const joined = await inPipe(['tasks', 'list', `--destination=${wrongPort}`])
    assert.match(joined.stderr, new RegExp(`try {2}secondwind tasks list --destination=${url} --url`))
    const known = await inPipe(['tasks', 'list', '--destination', url, '--status', 'CANCELLED'])
    assert.deepEqual([known.exitCode, known.stderr], [0, ''])
    await client.destinations.pause(wrongPort)
    assert.equal((await inPipe(['destinations', 'get', wrongPort])).exitCode, 0)
  })
})

describe('a destination that is typed with a password', () => {
  it('is refused, and not repeated, wherever a command takes one', async () => {
    const { inPipe } = await aService()
    const named = 'https://user:hunter2@api.example'
    for (const words of [
      ['pause', named],
      ['resume', named],
      ['series', named],
      ['series', '--destination', named],
      ['destinations', 'get', named],
      ['destinations', 'limits', named, '--rate', '20/s'],
      ['tasks', 'list', '--destination', named],
      ['dead', 'causes', `--destination=${named}`],
      ['replay', 'plan', '--destination', named, '--rate', '10/s'],
      ['kill', 'on', '--reason', 'INC-2231', '--scope', `destination=${named}`, '--yes'],
    ])
      for (const json of [[], ['--json']]) {
        const { exitCode, stdout, stderr } = await inPipe([...words, ...json])
        assert.ok(exitCode === 2 || exitCode === 3, `${words.join(' ')}: ${exitCode} ${stderr}`)
        assert.match(stderr, /without credentials|such as https:\/\/api\.example/)
        assert.ok(!`${stdout}${stderr}`.includes('hunter2'), stderr)
      }
  })
})

describe('a destination that failed', () => {
  it('is shown with when and how it did last, what it said, and the task to look at', async () => {
    const { aTask, client, url, atTerminal: type, inPipe } = await aService()
    const { taskId } = await client.waitFor((await aTask('400')).taskId)
    await client.waitFor((await aTask('200')).taskId)
    const { stdout, stderr } = await type(['destinations', 'get', url])
    assert.match(
      stdout.replaceAll(/\s+/g, ' '),
      /last failure \S+Z, (?:now|.* ago): permanent http-400: the target answered 400 it said {"call":1,"said":"400, as asked"}/,
    )
    assert.match(stderr, new RegExp(`secondwind tasks attempts ${taskId} `))
    const { lastFailure, lastAnswer } = JSON.parse((await inPipe(['destinations', 'get', url, '--json'])).stdout)
    assert.deepEqual(
      [lastFailure.taskId, lastFailure.errorCode, lastAnswer],
      [taskId, 'http-400', '{"call":1,"said":"400, as asked"}'],
    )
  })

  it('is shown without what it said to a key that may not read bodies', async () => {
    const { aTask, client, url, inPipe } = await aService()
    await client.waitFor((await aTask('400')).taskId)
    const folder = temporaryDirectory()
    const [admin, reader] = [join(folder, 'admin.key'), join(folder, 'reader.key')]
    await inPipe(['keys', 'create', '--operator', '--scope', 'admin', '--name', 'first', '--write', admin])
    await inPipe(['keys', 'create', '--scope', 'read', '--name', 'reader', '--write', reader, '--key-file', admin])
    const shownTo = async (key: string): Promise<string> =>
      (await inPipe(['destinations', 'get', url, '--key-file', key])).stdout
    assert.match(await shownTo(admin), /last failure[^]*it said/)
    assert.match(await shownTo(reader), /last failure/)
    assert.doesNotMatch(await shownTo(reader), /it said/)
  })
})

describe('a destination that was stopped', () => {
  it('is shown with the line that undoes each order, and no task to try first where an operator has paused it', async () => {
    const { aTask, client, url, atTerminal: type } = await aService()
    await client.waitFor((await aTask('200')).taskId)
    await client.destinations.pause(url, { reason: 'INC-2231' })
    await client.destinations.force(url, { breaker: 'closed' })
    await client.destinations.put(url, { limits: { rateLimit: { perSecond: 20 } } })
    await aTask('200')
    await client.destinations.drain(url)
    const { stdout, stderr } = await type(['destinations', 'get', url])
    assert.match(stdout, /^ {2}limits +20\/s, since/m)
    assert.match(stdout, /^ {2}in flight +0$/m, 'how it will come back is no limit yet')
    const list = await type(['destinations', 'list'], { columns: 66 })
    assert.match(list.stdout, / BREAKER[^]* forced-closed\n/, 'it is perhaps the cause')
    const lines = [...stderr.matchAll(/secondwind (.*) --url/g)].map(([, words]) => words)
    assert.deepEqual(lines, [
      `resume ${url} --ramp 5min --stop-on-failure-rate 20%`,
      `destinations undrain ${url}`,
      `destinations breaker ${url} --set auto`,
      `tasks list --destination ${url}`,
    ])
  })

  it('by its tenant is shown with a task to try first, and then the resuming of all', async () => {
    const { url, atTerminal: type } = await aService()
    const { client, flags } = await aTenantOf(url)
    await client.destinations.pause(url)
    const { taskId } = await client.tasks.enqueue({ targetUrl: `${url}/_flaky/200` })
    const { stderr } = await type(['destinations', 'get', url, ...flags])
    const lines = [...stderr.matchAll(/secondwind (.*) --url/g)].map(([, words]) => words)
    assert.deepEqual(lines.slice(0, 2), [
      `tasks attempt-now ${taskId} --wait 30s`,
      `resume ${url} --ramp 5min --stop-on-failure-rate 20%`,
    ])
  })
})

describe('a destination that was resumed', () => {
  it('is shown with how far it is, and what would pause it again', async () => {
    const { client, url, atTerminal: type } = await aService()
    await client.destinations.pause(url)
    await client.destinations.resume(url, { rampMs: 3_600_000, stopOnFailureRate: 0.2, overLast: 20 })
    const page = (await type(['destinations', 'get', url])).stdout.replaceAll(/\s+/g, ' ')
    assert.match(
      page,
      /resumed since .*; 0 % of its ramp of 1 h is over; paused again if 20 % of the last 20 fail on the way/,
    )
  })
})

describe('a storm', () => {
  const now = 1_767_300_000_000
  const lastFailure = {
    at: now - 1_000,
    taskId: '019a8b1c-5f00-7d3e-9a41-0c2f6e5b7a2a',
    attemptNumber: 2,
    outcome: 'transient',
  } as const
  const lately = (attempts: number, retryShare: number) => ({
    recent: { windowMs: 60_000, attempts, retryShare },
    lastFailure,
    backlog: 2,
    inFlight: 1,
  })

  it('is where most retries are, among destinations whose attempts are enough to tell', () => {
    const worst = { ...calm, destination: 'https://worst.example', ...lately(1_000, 0.6), backlog: 3 }
    const small = { ...calm, destination: 'https://small.example', ...lately(4, 0.75) }
    const worse = { ...calm, destination: 'https://worse.example', ...lately(50, 0.9) }
    assert.deepEqual(stormOf([calm, small, worse, worst], now), {
      destination: 'https://worst.example',
      say: 'A retry storm: 60 % of the attempts at https://worst.example in the last 1 min were retries. 3 tasks wait for it.',
    })
    assert.equal(stormOf([calm, small], now), undefined)
  })

  it('is met by a pause, but where somebody holds it already', () => {
    const typed = (...words: readonly string[]): string => words.join(' ')
    assert.deepEqual(spareIt(calm, typed), [`pause ${calm.destination} --for 30min`])
    assert.deepEqual(spareIt({ ...calm, hold: { reason: 'paused' } }, typed), [])
  })

  it('is one of now: good history does not hide it, and bad history is none', () => {
    assert.notEqual(stormOf([{ ...calm, attempts: 1_000_000, ...lately(100, 0.8) }], now), undefined)
    assert.equal(stormOf([{ ...calm, retryShare: 0.9, ...lately(100, 0.01) }], now), undefined)
    assert.equal(stormOf([{ ...calm, retryShare: 0.9 }], now), undefined)
  })

  it('is over when the last calls succeed: retries that brought it back are no reason to pause it', () => {
    const back = { ...calm, ...lately(100, 0.8) }
    assert.notEqual(stormOf([back], lastFailure.at + 9_999), undefined)
    assert.equal(stormOf([back], lastFailure.at + 10_000), undefined)
  })

  it('is over when all but one or two have ended: nothing is left that could weigh on anybody', () => {
    const given = { ...calm, ...lately(203, 1), exhausted: 200 }
    assert.notEqual(stormOf([given], now), undefined)
    assert.equal(stormOf([{ ...given, inFlight: 0, backlog: 1 }], now), undefined)
  })

  it('is answered with a pause that has an end', async () => {
    const stormy = { ...calm, ...lately(100, 0.8), lastFailure: { ...lastFailure, at: Date.now() } }
    const url = await anAnswer(({ url: path }, response) => {
      response.setHeader('content-type', 'application/json')
      const items = path?.startsWith('/retry-tasks/') ? [] : [stormy]
      response.end(JSON.stringify(path?.startsWith('/destinations/') ? stormy : { items }))
    })
    for (const words of [['list'], ['get', stormy.destination]]) {
      const { stdout, stderr } = await atTerminal(['destinations', ...words, '--url', url])
      assert.match(stdout.replaceAll(/\s+/g, ' '), /A retry storm: 80 % of the attempts at .* in the last 1 min/)
      assert.match(stderr, /secondwind pause https:\/\/calm\.example --for 30min/)
    }
  })
})
