import type { RetryTask } from '@secondwind/client'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { atTerminal, inPipe } from '../command-line.test-kit.ts'
import { aService, anAnswer, aWayTo } from '../remote/service.test-kit.ts'

describe('tasks watch', () => {
  it('says a line for each change of a task until it ends, and exits with 0 if it succeeded', async () => {
    const { aTask, inPipe } = await aService()
    const { taskId } = await aTask('503', { delayMs: 300 })
    const { stdout, exitCode } = await inPipe(['tasks', 'watch', taskId])
    const lines = stdout.trimEnd().split('\n')
    assert.match(lines[0]!, new RegExp(`^\\d{4}-\\d\\d-\\d\\dT[\\d:]+Z {2}${taskId} {2}PENDING {2}0 attempts {2}next `))
    assert.match(lines.at(-1)!, /SUCCEEDED {2}2 attempts$/)
    assert.equal(exitCode, 0)
  })

  it('exits with 6 if the task was given up, or did not end in time', async () => {
    const { aTask, inPipe } = await aService()
    const dead = await inPipe(['tasks', 'watch', (await aTask('400', { delayMs: 100 })).taskId, '--json'])
    const last = JSON.parse(dead.stdout.trimEnd().split('\n').at(-1)!) as RetryTask
    assert.deepEqual([last.status, dead.exitCode], ['EXHAUSTED', 6])
    const late = await inPipe(['tasks', 'watch', (await aTask('200', { delayMs: 3_600_000 })).taskId, '--for', '50ms'])
    assert.equal(late.exitCode, 6)
  })

  it('says of many what became of those that leave the list', async () => {
    const { aTask, inPipe } = await aService()
    const { taskId } = await aTask('200', { delayMs: 700 })
    const stays = await aTask('200', { delayMs: 3_600_000 })
    const words = ['tasks', 'watch', '--status', 'PENDING', '--every', '500ms', '--for', '3s', '--ndjson']
    const { stdout, exitCode } = await inPipe(words)
    const seen = stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as RetryTask)
    const changesOf = (id: string): readonly string[] =>
      seen.filter(one => one.taskId === id).map(({ status }) => status)
    assert.deepEqual([changesOf(taskId).at(0), changesOf(taskId).at(-1)], ['PENDING', 'SUCCEEDED'])
    assert.deepEqual([changesOf(stays.taskId), exitCode], [['PENDING'], 0])
  })

  it('sees of many what has happened as the service tells it, however seldom it would look by itself', async () => {
    const { aTask, inPipe } = await aService()
    const { taskId } = await aTask('200', { delayMs: 1_500 })
    const words = ['tasks', 'watch', '--every', '1h', '--for', '5s', '--ndjson']
    const { stdout } = await inPipe(words)
    const seen = stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as RetryTask)
    assert.deepEqual([seen.at(-1)!.taskId, seen.at(-1)!.status], [taskId, 'SUCCEEDED'])
  }, 20_000)

  it('looks every so often where the stream is refused', async () => {
    const asked: string[] = []
    const url = await anAnswer((request, response) => {
      const path = new URL(request.url!, 'http://127.0.0.1').pathname
      asked.push(path)
      const isList = path === '/retry-tasks'
      const type = isList ? 'application/json' : 'application/problem+json'
      response.writeHead(isList ? 200 : 403, { 'content-type': type })
      response.end(JSON.stringify(isList ? { items: [] } : { status: 403, code: 'scope-missing', title: 'no' }))
    })
    await inPipe(['tasks', 'watch', '--every', '500ms', '--for', '2500ms', '--ndjson', '--url', url])
    assert.ok(asked.includes('/events'))
    assert.ok(asked.filter(path => path === '/retry-tasks').length >= 3, asked.join(' '))
  }, 20_000)

  it('redraws one page on a terminal, and none that is higher than the screen', async () => {
    const { aTask, client, url, atTerminal } = await aService()
    const { taskId } = await aTask('503', { delayMs: 1_500 })
    const one = await atTerminal(['tasks', 'watch', taskId])
    // oxlint-disable-next-line no-control-regex -- what a terminal is told are control characters.
    const pages = one.stdout.split(/\u001B\[\d+A\u001B\[J/)
    assert.ok(pages.length >= 2, one.stdout)
    assert.match(pages.at(-1)!, /SUCCEEDED/)
    const task = { targetUrl: `${url}/_flaky/200`, delayMs: 3_600_000 }
    await client.tasks.enqueueMany(Array.from({ length: 40 }, () => task))
    const many = await atTerminal(['tasks', 'watch', '--limit', '40', '--for', '1500ms'])
    assert.match(many.stdout, /and \d+ more lines\n$/)
    assert.ok(many.stdout.trimEnd().split('\n').length <= 23)
  })

  it('says since when nobody answers, above what was seen last, and goes on when the service is back', async () => {
    const { aTask, url } = await aService()
    for (const isMany of [true, false]) {
      const { taskId } = await aTask('200', { delayMs: 4_500 })
      const words = isMany ? ['--every', '500ms', '--for', '9s'] : [taskId]
      let [asked, refusals] = [0, 0]
      const way = await aWayTo(url, request => {
        if (request.url?.startsWith('/events')) throw new Error('no stream')
        // Seen once, and then away for as long as three tries of a look take.
        if (++asked > 1 && refusals++ < 4) throw new Error('it is being restarted')
      })
      const { stdout } = await atTerminal(['tasks', 'watch', ...words, '--url', way])
      // oxlint-disable-next-line no-control-regex -- what a terminal is told are control characters.
      const pages = stdout.split(/\u001B\[\d+A\u001B\[J/)
      const away = pages.findIndex(page => /^no answer since \d\d:\d\d:\d\dZ\n\n/.test(page))
      assert.ok(away > 0, stdout)
      assert.ok(pages[away]!.includes(taskId))
      assert.match(pages.at(-1)!, /SUCCEEDED/)
      assert.doesNotMatch(pages.at(-1)!, /no answer/)
    }
  })

  it('says to programs on stderr when nobody answers, and when somebody does again', async () => {
    const { aTask, url } = await aService()
    await aTask('200', { delayMs: 3_600_000 })
    let [asked, refusals] = [0, 0]
    const way = await aWayTo(url, request => {
      if (request.url?.startsWith('/events')) throw new Error('no stream')
      if (++asked > 1 && refusals++ < 4) throw new Error('it is being restarted')
    })
    const words = ['tasks', 'watch', '--every', '500ms', '--for', '5s', '--ndjson', '--url', way]
    const { stdout, stderr } = await inPipe(words)
    assert.match(stderr, /^no answer since \S+\nit answers again\n/)
    assert.equal(stdout.trimEnd().split('\n').length, 1)
  })

  it('draws the sentence and the times of a task from one reading, again and again', async () => {
    const { aTask, client, url, atTerminal } = await aService()
    await client.destinations.pause(url, { forMs: 600_000 })
    const { taskId } = await aTask('200')
    const { stdout } = await atTerminal(['tasks', 'watch', taskId, '--for', '4s'])
    const sentences = new Set(Array.from(stdout.matchAll(/for another (\S+ \S+)/g), ([, left]) => left))
    assert.ok(sentences.size > 1, stdout)
  })

  it('refuses a filter beside a task, and a task that nobody knows', async () => {
    const { inPipe } = await aService()
    const id = '019a8b1c-5f00-7d3e-9a41-0c2f6e5b7a2a'
    assert.equal((await inPipe(['tasks', 'watch', id, '--status', 'PENDING'])).exitCode, 2)
    assert.equal((await inPipe(['tasks', 'watch', id])).exitCode, 3)
  })
})
