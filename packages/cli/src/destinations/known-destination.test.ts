import type { Control, RetryTask } from '@secondwind/client'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { aService, anAnswer } from '../remote/service.test-kit.ts'

describe('a destination, as lists show it,', () => {
  it('is taken wherever a command takes one, and stderr says for which', async () => {
    const { aTask, client, url, inPipe, atTerminal } = await aService()
    const { taskId } = await aTask('200', { delayMs: 3_600_000 })
    const [, shown = ''] = /\n\S+ +PENDING +(\S+)/.exec((await atTerminal(['tasks', 'list'])).stdout) ?? []
    assert.equal(`http://${shown}`, url)
    const calls = [
      ['pause', shown],
      ['destinations', 'get', shown],
      ['destinations', 'limits', shown],
      ['tasks', 'list', '--destination', shown],
      ['dead', 'causes', `--destination=${shown}`],
      ['series', shown],
      ['kill', 'on', '--reason', 'INC-2231', '--scope', `destination=${shown}`, '--dry-run'],
    ]
    for (const words of calls) {
      const { exitCode, stderr } = await inPipe(words)
      assert.equal(exitCode, 0, stderr)
      assert.ok(stderr.startsWith(`taking ${shown} for ${url}\n`), `${words.join(' ')}: ${stderr}`)
    }
    assert.ok((await client.destinations.get(url)).settings?.paused !== undefined)
    const listed = await inPipe(['tasks', 'list', '--destination', shown, '--json'])
    const { items } = JSON.parse(listed.stdout) as { items: readonly RetryTask[] }
    assert.deepEqual(
      items.map(task => task.taskId),
      [taskId],
    )
    const killed = await inPipe(['kill', 'on', '--reason', 'x', '--scope', `destination=${shown}`, '--yes', '--json'])
    assert.deepEqual((JSON.parse(killed.stdout) as Control).scope, { kind: 'destination', destination: url })
  })

  it('is not guessed where several have its host: each is proposed', async () => {
    const { aTask, client, url, inPipe } = await aService()
    await aTask('200', { delayMs: 3_600_000 })
    const other = await anAnswer(() => undefined)
    await client.tasks.enqueue({ targetUrl: `${other}/`, delayMs: 3_600_000 })
    const { exitCode, stderr } = await inPipe(['pause', '127.0.0.1', '--for', '30min'])
    assert.equal(exitCode, 2)
    assert.match(
      stderr,
      /^error several-destinations {2}127\.0\.0\.1 is the host of 2 destinations\n\n {2}Did you mean /,
    )
    for (const origin of [url, other]) assert.ok(stderr.includes(`secondwind pause ${origin} --for 30min`), stderr)
  })

  it('is what it was called, where it has a name; and what nobody knows stays as it was typed', async () => {
    const { aTask, client, url, inPipe } = await aService()
    await aTask('200', { delayMs: 3_600_000 })
    await client.destinations.put(url, { name: 'payments' })
    assert.doesNotMatch((await inPipe(['pause', 'payments'])).stderr, /taking/)
    assert.match((await inPipe(['pause', 'api.elsewhere.test'])).stderr, /^error destination-not-found /)
  })
})
