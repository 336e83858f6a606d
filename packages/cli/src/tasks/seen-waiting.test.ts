import assert from 'node:assert/strict'
import { describe, it, vi } from 'vitest'
import { aService, type RunningService } from '../remote/service.test-kit.ts'
import { HAS_PTY, onPty } from '../terminal/pty.test-kit.ts'

vi.setConfig({ testTimeout: 60_000 })

/** Nothing is sent to its practice endpoints. */
async function aShutService(): Promise<RunningService> {
  const service = await aService()
  await service.client.destinations.force(service.url, { breaker: 'open' })
  return service
}

describe('a wait for a task', () => {
  it('says its id at once, and what holds it while it waits; stdout is as without', async () => {
    const { inPipe, url, client } = await aShutService()
    const words = ['tasks', 'submit', `${url}/_flaky/200`, '--wait', '5s', '--json']
    const { stdout, stderr, exitCode } = await inPipe(words)
    const { items } = await client.tasks.list().page()
    assert.equal((JSON.parse(stdout) as { taskId: string }).taskId, items[0]!.taskId)
    assert.match(stderr, new RegExp(`^waiting for ${items[0]!.taskId}, 5 s at most\n`))
    assert.match(stderr, /\nwaiting {3}1 s so far {3}held by breaker-open\n/)
    assert.equal(exitCode, 6)
  })

  it.skipIf(!HAS_PTY)('is ended by an interrupt, never the task: 130, and how to go on', async () => {
    const { aTask, url, client } = await aShutService()
    const { taskId } = await aTask('200')
    for (const words of [
      ['tasks', 'submit', `${url}/_flaky/200`],
      ['tasks', 'attempt-now', taskId],
    ]) {
      const { until, type, exitCode, shown } = onPty([...words, '--wait', '1min', '--url', url])
      await until(/waiting {3}\d+ s so far {3}held by breaker-open/)
      type('\u0003')
      assert.equal(await exitCode, 130)
      const [, waited = ''] = /waiting for (\S+),/.exec(shown()) ?? []
      assert.match(shown(), new RegExp(`\r\nstopped watching; [^]*try {2}secondwind tasks watch ${waited} `))
      assert.equal((await client.tasks.get(waited)).status, 'PENDING')
    }
  })
})
