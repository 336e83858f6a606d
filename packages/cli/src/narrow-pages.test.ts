import { createClient } from '@secondwind/client'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { aService } from './remote/service.test-kit.ts'

describe('on a terminal of 60 columns', () => {
  it('lists of tasks, dead letters, replays and destinations fit', async () => {
    const { aTask, client, url, atTerminal } = await aService()
    const { taskId } = await aTask('400')
    await client.waitFor(taskId).catch(() => undefined)
    await client.replays.plan({ filter: { destination: url }, ratePerSecond: 1 })
    for (const tenant of ['acme', 'globex-international']) {
      await client.tenants.create({ tenant })
      await createClient({ url, tenant }).tasks.enqueue({ targetUrl: `${url}/_flaky/200`, delayMs: 3_600_000 })
    }
    const pages = [
      ['tasks', 'list'],
      ['tasks', 'list', '--tenant', 'default'],
      ['dead', 'list', '--tenant', 'default'],
      ['replay', 'list', '--tenant', 'default'],
      ['destinations', 'list'],
    ]
    for (const words of pages) {
      const { stdout } = await atTerminal(words, { columns: 60 })
      assert.ok(stdout.length > 60, words.join(' '))
      assert.deepEqual(
        stdout.split('\n').filter(line => line.length > 60),
        [],
      )
    }
  })

  it('no host is broken from its port, and dead letters have their error instead of a status that all have', async () => {
    const { aTask, client, url, atTerminal, inPipe } = await aService()
    await client.waitFor((await aTask('400')).taskId)
    const { host } = new URL(url)
    const [cause] = (await client.deadLetters.groups().page()).items
    for (const columns of [60, 80]) {
      for (const words of [
        ['dead', 'list'],
        ['dead', 'show', cause!.causeId],
        ['tasks', 'list'],
      ]) {
        const { stdout } = await atTerminal(words, { columns })
        assert.match(stdout, new RegExp(`${host} +http-400`), words.join(' '))
        assert.equal(/EXHAUSTED/.test(stdout), words[0] === 'tasks')
      }
    }
    assert.match((await inPipe(['dead', 'list'])).stdout, /\tEXHAUSTED\t/)
  })
})
