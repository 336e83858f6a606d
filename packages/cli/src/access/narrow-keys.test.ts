import { createClient, type RetryTask, type Scope } from '@secondwind/client'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import { aService, type RunningService } from '../remote/service.test-kit.ts'

interface Narrow {
  readonly service: RunningService
  /** The words that use a key which may do this alone. */
  readonly as: readonly string[]
  /** One that nobody has tried yet. */
  readonly aTask: () => Promise<RetryTask>
}

async function aKeyThatMay(scope: Scope, tenant = 'default'): Promise<Narrow> {
  const service = await aService()
  const { url, client } = service
  const { key } = await client.keys.create({ scopes: ['admin'], isOperator: true })
  if (tenant !== 'default') await createClient({ url, key }).tenants.create({ tenant })
  const admin = createClient({ url, key, tenant })
  const folder = mkdtempSync(join(tmpdir(), 'secondwind-narrow-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'key')
  writeFileSync(file, (await admin.keys.create({ scopes: [scope] })).key, { mode: 0o600 })
  const aTask = (): Promise<RetryTask> => admin.tasks.enqueue({ targetUrl: `${url}/_flaky/200`, delayMs: 3_600_000 })
  return { service, as: ['--key-file', file], aTask }
}

describe('a key that may operate, and not read,', () => {
  it('cancels what it cannot be shown, after a yes', async () => {
    const { service, as, aTask } = await aKeyThatMay('operate')
    const { taskId } = await aTask()
    const { exitCode, stdout, stderr } = await service.atTerminal(['tasks', 'cancel', taskId, ...as], {
      answers: ['yes'],
    })
    assert.deepEqual([exitCode, stdout], [0, `cancelled ${taskId}\n`], stderr)
    assert.ok(stderr.startsWith(`${taskId}, which this key may not see\n`), stderr)
  })

  it('makes an attempt, and is not told that nothing was changed', async () => {
    const { service, as, aTask } = await aKeyThatMay('operate')
    const { exitCode, stderr } = await service.inPipe(['tasks', 'attempt-now', (await aTask()).taskId, ...as])
    assert.equal(exitCode, 0, stderr)
    const waiting = await service.inPipe(['tasks', 'attempt-now', (await aTask()).taskId, '--wait', '20s', ...as])
    assert.equal(waiting.exitCode, 4)
    assert.match(waiting.stdout, /It was done\. What comes of it this key may not see: that takes the scope read\.\n/)
  })

  it('pauses a destination, resumes it, and throws the kill switch', async () => {
    const { service, as } = await aKeyThatMay('operate')
    const words = [
      ['pause', service.url],
      ['resume', service.url],
      ['kill', 'on', '--yes', '--reason', 'INC-2231', '--scope', `destination=${service.url}`],
    ]
    for (const order of words) {
      const { exitCode, stderr } = await service.inPipe([...order, ...as])
      assert.equal(exitCode, 0, stderr)
    }
  })
})

describe('a key that may hand over, and not read,', () => {
  it('hands over, though it cannot wait for what comes of it', async () => {
    const { service, as } = await aKeyThatMay('enqueue')
    const words = ['tasks', 'submit', `${service.url}/_flaky/200`, '--wait', '20s', ...as]
    const { exitCode, stdout, stderr } = await service.inPipe(words)
    assert.equal(exitCode, 4, stderr)
    assert.match(stdout, /It was done\./)
  })
})

describe('a key that may not do this', () => {
  it('is to be replaced by a wider one of the same tenant', async () => {
    for (const scope of ['read', 'enqueue'] as const) {
      const { service, as } = await aKeyThatMay(scope, 'acme')
      const { exitCode, stderr } = await service.inPipe(['pause', service.url, ...as])
      assert.equal(exitCode, 4, stderr)
      const scopes = `--scope ${scope} --scope operate`
      assert.match(stderr, new RegExp(`do {3}secondwind keys create ${scopes} --tenant acme --url `))
    }
    const { service, as } = await aKeyThatMay('read')
    const { stderr } = await service.inPipe(['pause', service.url, ...as])
    assert.match(stderr, /do {3}secondwind keys create --scope read --scope operate --url /)
  })
})
