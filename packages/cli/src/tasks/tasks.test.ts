import type { Explanation, RetryTask } from '@secondwind/client'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import { inPipe as program } from '../command-line.test-kit.ts'
import { anAnswer, aService } from '../remote/service.test-kit.ts'

interface Listed {
  readonly items: readonly RetryTask[]
  readonly nextCursor?: string
}

const FIELDS = ['taskId', 'status', 'destination', 'errorCode', 'attemptNumber', 'nextAttemptAt']

describe('tasks submit', () => {
  it('refuses an address that is no web address as one, and not as a file that is missing', async () => {
    const { inPipe } = await aService()
    const { exitCode, stderr } = await inPipe(['tasks', 'submit', 'ftp://x/y'])
    assert.equal(exitCode, 2)
    assert.match(
      stderr,
      /<target> must be an address that begins with http:\/\/ or https:\/\/.* \(is "ftp:\/\/x\/y"\)[^]*do {3}secondwind tasks submit --help\n/,
    )
  })

  it('hands a request over with all that flags say, and prints the task', async () => {
    const { url, inPipe, client } = await aService()
    const words = [
      'tasks',
      'submit',
      `${url}/_flaky/503x500`,
      '--method',
      'PUT',
      '--header',
      'x-one: a: b',
      '--header',
      'x-two:',
    ]
    const more = ['--body', 'hello', '--idempotency-key', 'order-1', '--metadata', 'team=checkout', '--delay', '1h']
    const { stdout, exitCode } = await inPipe([...words, ...more, '--deadline', '5h', '--json'])
    assert.equal(exitCode, 0)
    const task = await client.tasks.get((JSON.parse(stdout) as RetryTask).taskId)
    assert.deepEqual(
      [task.method, task.headers, task.bodyBytes, task.idempotencyKey, task.metadata],
      ['PUT', { 'x-one': 'a: b', 'x-two': '' }, 5, 'order-1', { team: 'checkout' }],
    )
    assert.equal(Math.round((task.nextAttemptAt! - task.createdAt) / 60_000), 60)
    assert.equal(Math.round((task.deadlineAt! - task.createdAt) / 3_600_000), 5)
  })

  it('says that the same request with the same key is the same task', async () => {
    const { url, inPipe } = await aService()
    const words = ['tasks', 'submit', `${url}/_flaky/200`, '--idempotency-key', 'order-1', '--delay', '1h', '--json']
    const [first, second] = [await inPipe(words), await inPipe(words)]
    assert.equal((JSON.parse(first.stdout) as RetryTask).taskId, (JSON.parse(second.stdout) as RetryTask).taskId)
    assert.deepEqual([first.stderr, second.stderr.includes('had come before')], ['', true])
  })

  it('takes a whole task as a document, from a file or stdin, and a body from a file as its bytes', async () => {
    const { url, inPipe, client } = await aService()
    const folder = mkdtempSync(join(tmpdir(), 'secondwind-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const body = join(folder, 'body')
    writeFileSync(body, Uint8Array.from([0, 255, 128]))
    const document = JSON.stringify({ targetUrl: `${url}/_flaky/200`, method: 'PUT', delayMs: 3_600_000 })
    const { stdout } = await inPipe(['tasks', 'submit', '-', '--body', `@${body}`, '--json'], { input: document })
    const { bodyBytes, method } = await client.tasks.get((JSON.parse(stdout) as RetryTask).taskId)
    assert.deepEqual([bodyBytes, method], [3, 'PUT'])
    const missing = await inPipe(['tasks', 'submit', url, '--body', `@${body}-not-there`])
    assert.match(missing.stderr, /^error not-found .*\n\n.* is no file here\.\n {2}Nothing was run\./)
  })

  it('waits for the end where it is told to, and exits with 6 unless it succeeded', async () => {
    const { url, atTerminal, inPipe } = await aService()
    const done = await atTerminal(['tasks', 'submit', `${url}/_flaky/503`, '--wait', '1min'])
    assert.deepEqual([done.exitCode, /SUCCEEDED\n(.*\n)*It succeeded\.\n$/.test(done.stdout)], [0, true], done.stderr)
    const dead = await inPipe(['tasks', 'submit', `${url}/_flaky/400`, '--wait', '1min', '--json'])
    assert.equal(dead.exitCode, 6)
    assert.equal((JSON.parse(dead.stdout) as { verdict: string }).verdict, 'It did not succeed.')
    const late = await inPipe(['tasks', 'submit', `${url}/_flaky/200`, '--delay', '1h', '--wait', '50ms', '--json'])
    assert.equal(late.exitCode, 6)
    assert.match(
      (JSON.parse(late.stdout) as { verdict: string }).verdict,
      /not come to anything within 50 ms; it goes on/,
    )
  })

  it('shows the task as it is when the wait is over, and not as it was seen before', async () => {
    const { aTask } = await aService()
    const task = await aTask('200', { delayMs: 3_600_000 })
    let looks = 0
    const url = await anAnswer(({ method }, response) => {
      if (method === 'GET') looks += 1
      response.end(JSON.stringify({ ...task, waits: `look ${looks}` }))
    })
    const { stdout } = await program([
      'tasks',
      'submit',
      'https://api.example',
      '--wait',
      '50ms',
      '--json',
      '--url',
      url,
    ])
    const { waits } = JSON.parse(stdout) as RetryTask
    // The last look of the wait may still be under way when it is given up.
    assert.ok(waits === `look ${looks}` || waits === `look ${looks - 1}`, waits)
    assert.ok(looks > 1 && waits !== 'look 1')
  })

  it('says everything that is wrong at once, and sends nothing', async () => {
    const { inPipe, client, url } = await aService()
    const { stderr, exitCode } = await inPipe(['tasks', 'submit', url, '--header', 'nonsense', '--delay', 'soon'])
    assert.equal(exitCode, 2)
    assert.match(stderr, /--header must be a header such as/)
    assert.match(stderr, /--delay must be a duration/)
    const wrong = await inPipe(['tasks', 'submit', '{"url":"http://api.example","metod":"PUT"}'])
    assert.match(wrong.stderr, /did you mean targetUrl\?[^]*did you mean method\?/)
    assert.deepEqual((await client.tasks.list().page()).items, [])
  })
})

describe('tasks list', () => {
  it('lists by filter: tabs in a pipe, a table on a terminal, documents for programs', async () => {
    const { aTask, inPipe, atTerminal } = await aService()
    const waiting = await aTask('200', { delayMs: 3_600_000 })
    const other = await aTask('200', { delayMs: 3_600_000, policy: { maxAttempts: 2 } })
    const tabs = await inPipe(['tasks', 'list', '--policy-id', 'default'])
    const [heading, row, ...rest] = tabs.stdout.trimEnd().split('\n')
    assert.deepEqual(heading!.split('\t').slice(0, 6), FIELDS)
    const { taskId, destination, nextAttemptAt } = waiting
    assert.deepEqual(row!.split('\t').slice(0, 6), [taskId, 'PENDING', destination, '', '0', String(nextAttemptAt)])
    assert.deepEqual(rest, [])
    const page = await atTerminal(['tasks', 'list', '--status', 'pending', '--created-from', '1h'])
    assert.match(page.stdout, new RegExp(`TASKID .*\n${other.taskId} .* in (?:60|1) (?:min|h).*\n${waiting.taskId}`))
    const lines = (await inPipe(['tasks', 'list', '--ndjson'])).stdout.trimEnd().split('\n')
    assert.deepEqual(
      lines.map(line => (JSON.parse(line) as RetryTask).taskId),
      [other.taskId, waiting.taskId],
    )
    assert.equal((await inPipe(['tasks', 'list', '--ids'])).stdout, `${other.taskId}\n${waiting.taskId}\n`)
    const nothing = await atTerminal(['tasks', 'list', '--status', 'EXHAUSTED'])
    assert.deepEqual([nothing.stdout, nothing.exitCode], ['No tasks match.\n', 0])
  })

  it('reads as many pages as it takes, and says how to read on', async () => {
    const { client, url, inPipe } = await aService()
    const task = { targetUrl: `${url}/_flaky/200`, delayMs: 3_600_000 }
    await client.tasks.enqueueMany(Array.from({ length: 260 }, () => task))
    const first = await inPipe(['tasks', 'list', '--limit', '250', '--json'])
    const { items, nextCursor } = JSON.parse(first.stdout) as Listed
    assert.equal(new Set(items.map(({ taskId }) => taskId)).size, 250)
    const people = await inPipe(['tasks', 'list', '--limit', '250'])
    assert.match(
      people.stderr,
      new RegExp(`try {2}secondwind tasks list --limit 250 --url \\S+ --cursor ${nextCursor!}`),
    )
    const second = await inPipe(['tasks', 'list', '--limit', '250', '--cursor', nextCursor!, '--json'])
    assert.equal((JSON.parse(second.stdout) as Listed).items.length, 10)
    assert.equal((JSON.parse(second.stdout) as Listed).nextCursor, undefined)
  })
})

describe('one task', () => {
  it('is shown with its attempts, and with why it waits', async () => {
    const { aTask, client, atTerminal, inPipe } = await aService()
    const policy = { maxAttempts: 3, initialDelayMs: 3_600_000, jitterType: 'NONE', maxDelayMs: 3_600_000 }
    const { taskId } = await aTask('503x500', { policy, headers: { authorization: 'Bearer secret' } })
    for await (const { attemptNumber } of client.follow(taskId)) if (attemptNumber === 1) break
    const shown = await atTerminal(['tasks', 'get', taskId])
    assert.match(shown.stdout, /PENDING\nPOST http.*\n\nAttempt 2 is due in .*\n/)
    assert.match(shown.stdout, /header {5}authorization: \[redacted\]/)
    assert.match(shown.stderr, new RegExp(`try {2}secondwind tasks explain ${taskId} --url`))
    const wide = await atTerminal(['tasks', 'attempts', taskId], { columns: 140 })
    assert.match(wide.stdout, / ANSWER\n.* {"call":1,"said":"503, as asked"}/)
    const { stdout } = await inPipe(['tasks', 'attempts', taskId, '--csv'])
    assert.match(
      stdout,
      /^generation,attemptNumber,startedAt,durationMs,outcome,responseStatus,errorCode,errorMessage,answer\n1,1,\d+,[\d.]+,transient,503,http-503,/,
    )
    const why = await atTerminal(['tasks', 'explain', taskId])
    assert.match(why.stdout, /next attempt {3}\d{4}-\d\d-\d\dT.*, in /)
  })

  it('is cancelled after a yes, and never without one', async () => {
    const { aTask, client, atTerminal, inPipe } = await aService()
    const { taskId } = await aTask('200', { delayMs: 3_600_000 })
    const unasked = await inPipe(['tasks', 'cancel', taskId])
    assert.equal(unasked.exitCode, 2)
    assert.match(
      unasked.stderr,
      /^\S+ {2}PENDING\n[^]*error cannot-ask {2}[^]*do {3}secondwind tasks cancel \S+ --url \S+ --yes\n/,
    )
    const declined = await atTerminal(['tasks', 'cancel', taskId], { answers: ['no'] })
    assert.deepEqual([declined.exitCode, declined.questions], [2, ['cancel this task? (yes/no) ']])
    assert.match(declined.stderr, /error not-confirmed .*\n\n {2}The answer was "no"\./)
    assert.equal((await client.tasks.get(taskId)).status, 'PENDING')
    const agreed = await atTerminal(['tasks', 'cancel', taskId], { answers: ['yes'] })
    assert.deepEqual([agreed.exitCode, agreed.stdout], [0, `cancelled ${taskId}\n`])
    const again = await inPipe(['tasks', 'cancel', taskId, '--yes', '--json'])
    assert.equal((JSON.parse(again.stdout) as RetryTask).status, 'CANCELLED')
  })

  it('is shown with whom it tells of its end, and the name of its body', async () => {
    const { aTask, client, url, atTerminal } = await aService()
    const { bodyRef } = await client.bodies.upload(Buffer.from('hello'))
    const callbackUrl = `${url}/_flaky/200`
    const { taskId } = await aTask('200', { delayMs: 3_600_000, bodyRef, callbackUrl })
    const page = (await atTerminal(['tasks', 'get', taskId], { columns: 160 })).stdout
    assert.ok(page.includes(`5 bytes, ${bodyRef}`) && page.includes(`callback   ${callbackUrl}`), page)
  })

  it('in a list of 80 columns has its destination and its last error', async () => {
    const { aTask, client, atTerminal } = await aService()
    const { taskId } = await aTask('503x9', {
      policy: { maxAttempts: 9, initialDelayMs: 3_600_000, jitterType: 'NONE' },
    })
    for await (const { attemptNumber, status } of client.follow(taskId))
      if (attemptNumber > 0 && status === 'PENDING') break
    const [heading, row] = (await atTerminal(['tasks', 'list'], { columns: 80 })).stdout.split('\n')
    assert.match(heading!, /^TASKID +STATUS +DESTINATION +LAST/)
    assert.match(row!, new RegExp(`^${taskId} +PENDING +127\\.0\\.0\\.1:\\d+ +http-503`))
  })

  it('that has succeeded is not asked about, and refused with what it is', async () => {
    const { aTask, client, atTerminal } = await aService()
    const { taskId } = await client.waitFor((await aTask('200')).taskId)
    const { exitCode, stderr, questions } = await atTerminal(['tasks', 'cancel', taskId])
    assert.deepEqual([exitCode, questions], [5, []])
    assert.match(stderr, /^error wrong-status {2}this cannot be done as things are\n\n {2}It is SUCCEEDED\./)
  })

  it('is replayed, and the next attempt made now, waiting for what comes of that one attempt', async () => {
    const { aTask, client, inPipe } = await aService()
    // Hours between attempts: a slow machine must not come to the second before it has looked at the first.
    const policy = { maxAttempts: 9, initialDelayMs: 3_600_000, jitterType: 'NONE' }
    const { taskId } = await client.waitFor((await aTask('400,503,200', { policy })).taskId)
    const replayed = await inPipe(['tasks', 'replay', taskId, '--wait', '30s', '--json'])
    const { status, attemptNumber, generation, verdict } = JSON.parse(replayed.stdout) as RetryTask & {
      verdict: string
    }
    assert.deepEqual([status, attemptNumber, generation], ['PENDING', 1, 2])
    assert.deepEqual([replayed.exitCode, verdict], [6, 'It did not succeed at this attempt; it goes on.'])
    const made = await inPipe(['tasks', 'attempt-now', taskId, '--wait', '30s', '--json'])
    assert.deepEqual([made.exitCode, (JSON.parse(made.stdout) as RetryTask).status], [0, 'SUCCEEDED'])
  })

  it('that was replayed shows of each attempt in which generation it was, at 80 columns, too', async () => {
    const { aTask, client, atTerminal } = await aService()
    const policy = { maxAttempts: 1 }
    const { taskId } = await client.waitFor((await aTask('503x9', { policy })).taskId)
    await client.tasks.replay(taskId)
    await client.waitFor(taskId)
    const { stdout } = await atTerminal(['tasks', 'attempts', taskId], { columns: 80 })
    assert.match(stdout, /^GENERATION +ATTEMPT .*\n +1 +1 [^]*\n +2 +1 /)
  })

  it('that a person holds is followed by the line that lets it go, not by an attempt in vain', async () => {
    const { url, aTask, client, atTerminal } = await aService()
    await client.waitFor((await aTask('200')).taskId)
    const scope = { kind: 'all' } as const
    const { controlId } = await client.controls.create({ level: 'dispatch-off', scope, reason: 'INC-2231' })
    const { taskId } = await aTask('200')
    for (const verb of ['attempt-now', 'explain']) {
      const { stderr } = await atTerminal(['tasks', verb, taskId])
      assert.match(stderr, new RegExp(`secondwind kill off ${controlId} `), verb)
      assert.doesNotMatch(stderr, /tasks attempt-now/, verb)
    }
    await client.destinations.force(url, { breaker: 'open' })
    await client.controls.end(controlId)
    const forced = await atTerminal(['tasks', 'explain', taskId])
    assert.match(forced.stderr, new RegExp(`secondwind destinations breaker ${url} --set auto`))
    assert.doesNotMatch(forced.stderr, /tasks attempt-now/)
  })

  it('that waits for credit says so in the words of the service, and is sent at once by hand', async () => {
    const { url, aTask, client, atTerminal, inPipe } = await aService()
    const credit = { most: { retry: 1 }, probeMinMs: 60_000 }
    await client.destinations.put(url, { limits: { credit }, version: 0 })
    const { taskId } = await aTask('503x9')
    for await (const { attemptNumber, status } of client.follow(taskId))
      if (attemptNumber === 2 && status === 'PENDING') break
    const { stdout, stderr } = await atTerminal(['tasks', 'explain', taskId])
    const { explanation } = JSON.parse((await inPipe(['tasks', 'explain', taskId, '--json'])).stdout) as Explanation
    assert.match(explanation, /one request every 1 min finds out, the next at /)
    assert.match(stdout.replaceAll(/\s+/g, ' '), / gate credit, a probe every 1 min, the next in \S+ s /)
    assert.match(stderr, new RegExp(`secondwind tasks attempt-now ${taskId} `))
    assert.match((await atTerminal(['destinations', 'get', url])).stdout, /^ {2}credit +first 19 · retry 0 · late 20$/m)
    await atTerminal(['tasks', 'attempt-now', taskId, '--wait', '30s'])
    assert.equal((await client.tasks.get(taskId)).attemptNumber, 3)
  })
})
