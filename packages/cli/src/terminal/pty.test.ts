import assert from 'node:assert/strict'
import { describe, it, vi } from 'vitest'
import { aService } from '../remote/service.test-kit.ts'
import { HAS_PTY, onPty } from './pty.test-kit.ts'

vi.setConfig({ testTimeout: 120_000 })

describe.skipIf(!HAS_PTY)(
  `on a real terminal${HAS_PTY ? '' : ' (skipped: this machine has no script of util-linux)'}`,
  () => {
    it('a watched task is redrawn in its place until it ends', async () => {
      const { aTask, url } = await aService()
      const { taskId } = await aTask('503', { delayMs: 8_000 })
      const { until, shown, exitCode } = onPty(['tasks', 'watch', taskId, '--url', url])
      await until(/PENDING/)
      assert.equal(await exitCode, 0)
      // oxlint-disable-next-line no-control-regex -- what a terminal is told are control characters.
      assert.match(shown(), /\u001B\[\d+A\u001B\[J[^]*SUCCEEDED/)
    })

    it('many tasks are redrawn as the service tells of them', async () => {
      const { aTask, url } = await aService()
      await aTask('200', { delayMs: 8_000 })
      const { until, type, exitCode } = onPty(['tasks', 'watch', '--every', '1h', '--url', url])
      await until(/PENDING/)
      await until(/SUCCEEDED/)
      type('\u0003')
      assert.equal(await exitCode, 130)
    })

    it('an interrupt ends the watch and not the task: 130, and how to go on', async () => {
      const { aTask, client, url } = await aService()
      const { taskId } = await aTask('200', { delayMs: 3_600_000 })
      const { until, shown, type, exitCode } = onPty(['tasks', 'watch', taskId, '--url', url])
      await until(/PENDING/)
      type('\u0003')
      assert.equal(await exitCode, 130)
      assert.match(
        shown(),
        new RegExp(`stopped watching; the service goes on\\r\\ntry {2}secondwind tasks watch ${taskId}`),
      )
      assert.equal((await client.tasks.get(taskId)).status, 'PENDING')
    })

    it('a destructive command shows what it will touch, asks, and takes a typed yes', async () => {
      const { aTask, client, url } = await aService()
      const { taskId } = await aTask('200', { delayMs: 3_600_000 })
      const { until, shown, type, exitCode } = onPty(['tasks', 'cancel', taskId, '--url', url])
      await until(/cancel this task\? \(yes\/no\) /)
      assert.match(shown(), /PENDING\r\nPOST http/)
      assert.equal((await client.tasks.get(taskId)).status, 'PENDING')
      type('yes\r')
      assert.equal(await exitCode, 0)
      assert.equal((await client.tasks.get(taskId)).status, 'CANCELLED')
    })

    it('an interrupt at a question does nothing: 130', async () => {
      const { aTask, client, url } = await aService()
      const { taskId } = await aTask('200', { delayMs: 3_600_000 })
      const { until, shown, type, exitCode } = onPty(['tasks', 'cancel', taskId, '--url', url])
      await until(/cancel this task\? \(yes\/no\) /)
      type('ye\u0003')
      assert.equal(await exitCode, 130)
      assert.match(shown(), /\r\nnothing was done\r\n$/)
      assert.equal((await client.tasks.get(taskId)).status, 'PENDING')
    })

    it('the end of input at a question is a no', async () => {
      const { aTask, client, url } = await aService()
      const { taskId } = await aTask('200', { delayMs: 3_600_000 })
      const { until, shown, type, exitCode } = onPty(['tasks', 'cancel', taskId, '--url', url])
      await until(/cancel this task\? \(yes\/no\) /)
      type('\u0004')
      assert.equal(await exitCode, 2)
      assert.match(shown(), /\r\nerror not-confirmed .*\r\n\r\n {2}There was no answer\./)
      assert.equal((await client.tasks.get(taskId)).status, 'PENDING')
    })

    it('a list is a table as wide as the terminal, and no wider', async () => {
      const { aTask, url } = await aService()
      await aTask('200', { delayMs: 3_600_000 })
      const { shown, exitCode } = onPty(['tasks', 'list', '--url', url])
      assert.equal(await exitCode, 0)
      const lines = shown().trimEnd().split('\r\n')
      assert.match(lines[0]!, /^TASKID +STATUS +DESTINATION +LAST +ATTEMPTS +NEXT/)
      assert.ok(lines.every(line => line.length <= 100))
    })
  },
)
