import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createClient, type RetryTask } from '@secondwind/client'
import { DEFAULT_CONFIG, startService } from '@secondwind/service'
import { describe, it, onTestFinished, vi } from 'vitest'
import { readPage } from './pages.ts'

// Processes, sockets and disks take as long as the machine lets them.
vi.setConfig({ testTimeout: 60_000 })

const run = promisify(execFile)

/** The shell's lines below a heading of the page, as they stand there. */
function linesBelow(heading: string): string[] {
  const page = readPage('docs/operations.md')
  const section = page.split(/^#{2,3} /m).find(part => part.startsWith(`${heading}\n`))
  assert.ok(section !== undefined, heading)
  return Array.from(section.matchAll(/^( *)```sh\n(.*?)^ *```/gms), ([, , lines]) => lines!)
}

const QUIET = { isDevelopment: true, log: () => {}, logLevel: 'error' } as const
const MAIN = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))

/** A line that has the program in it. */
async function pasteLine(line: string, folder: string): Promise<void> {
  const program = `secondwind() { '${process.execPath}' --conditions=@secondwind/source '${MAIN}' "$@"; }`
  await run('sh', ['-e', '-c', `${program}\n${line}`], { cwd: folder })
}

/** A service whose directory is `./data` of the folder in which lines are run. */
async function atWork() {
  const folder = mkdtempSync(join(tmpdir(), 'secondwind-operations-'))
  const config = { ...DEFAULT_CONFIG, port: 0, data: join(folder, 'data') }
  const service = await startService({ config, ...QUIET })
  onTestFinished(async () => {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const { host } = new URL(service.url)
  /** What the lines print. Fails where a line fails, and where the service says no. */
  const paste = async (heading: string, env: NodeJS.ProcessEnv = {}): Promise<string> => {
    const blocks = linesBelow(heading)
    assert.ok(blocks.length > 0, `${heading} has no lines`)
    const here = blocks.join('\n').replaceAll(/(?:localhost|127\.0\.0\.1):4747/g, host)
    const script = here.replaceAll(/\bcurl /g, 'curl -sS --fail-with-body ')
    return (await run('sh', ['-e', '-c', script], { cwd: folder, env: { ...process.env, ...env } })).stdout
  }
  return { folder, service, paste, client: createClient({ url: service.url }) }
}

describe('the page on operations', () => {
  it('has lines against a storm that pause, switch off, and come back under a stop rule, at a rate', async () => {
    const { paste, client } = await atWork()
    await paste('A storm')
    const { settings } = await client.destinations.get('https://api.example')
    assert.deepEqual([settings!.paused, settings!.resumed!.stopOnFailureRate], [undefined, 0.3])
    assert.equal(settings!.limits!.rateLimit!.perSecond, 20)
    const { items } = await client.controls.list().page()
    assert.deepEqual(
      items.map(({ level, isInForce }) => [level, isInForce]),
      [['retries-off', true]],
    )
  })

  it('has a line that plans the replay of an outage', async () => {
    const { paste, client } = await atWork()
    await paste('Replay after an outage')
    const { items } = await client.replays.list().page()
    assert.deepEqual([items.length, items[0]!.ratePerSecond], [1, 20])
  })

  it('has lines that rotate a key and a secret, with an overlap', async () => {
    const { paste, client, service } = await atWork()
    const { secretId: SECRET_ID } = await client.secrets.create({})
    const made = await client.keys.create({ scopes: ['admin'], isOperator: true, name: 'me' })
    await paste('Rotate keys and secrets', { KEY: made.key, KEY_ID: made.keyId, SECRET_ID })
    const still = createClient({ url: service.url, key: made.key })
    const { items: keys } = await still.keys.list().page()
    assert.ok(keys[0]!.overlapsUntil !== undefined)
  })

  it('has lines for a key that leaked: it is refused, and what was done with it is shown', async () => {
    const { paste, client, service } = await atWork()
    const me = await client.keys.create({ scopes: ['admin'], isOperator: true, name: 'me' })
    const admin = createClient({ url: service.url, key: me.key })
    const leaked = await admin.keys.create({ scopes: ['enqueue', 'operate'], name: 'leaked' })
    const thief = createClient({ url: service.url, key: leaked.key })
    const hours = { delayMs: 3_600_000 }
    const { taskId } = await thief.tasks.enqueue({ targetUrl: `${service.url}/_flaky/503x1`, ...hours })
    await admin.tasks.enqueue({ targetUrl: `${service.url}/_flaky/503x1`, ...hours })
    await thief.destinations.pause(service.url, { reason: 'mischief' })
    const printed = await paste('A key leaked', { KEY: me.key, KEY_ID: leaked.keyId })
    const [, audit, tasks] = printed
      .trim()
      .split('\n')
      .map(text => JSON.parse(text)) as [unknown, { items: { action: string }[] }, { items: RetryTask[] }]
    assert.deepEqual([audit.items[0]!.action, audit.items.length], ['destination.pause', 1])
    assert.deepEqual(
      tasks.items.filter(({ createdBy }) => createdBy === leaked.keyId).map(task => task.taskId),
      [taskId],
    )
    await assert.rejects(thief.tasks.list().page(), { status: 401 })
  })

  it('has a line that makes a key for Prometheus, whose metrics no key of a tenant reads', async () => {
    const { paste, client, service } = await atWork()
    const { key } = await client.keys.create({ scopes: ['admin'], isOperator: true, name: 'me' })
    const answer = JSON.parse(await paste('Prometheus', { KEY: key })) as { key: string }
    const tenants = await createClient({ url: service.url, key }).keys.create({ scopes: ['admin'] })
    // As Prometheus asks.
    const accept = 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.4,*/*;q=0.1'
    const scrape = (by: string): Promise<Response> =>
      fetch(`${service.url}/metrics`, { headers: { accept, authorization: `Bearer ${by}` } })
    const [scraped, refused] = await Promise.all([scrape(answer.key), scrape(tenants.key)])
    assert.deepEqual([scraped.status, refused.status], [200, 403])
    assert.match(await scraped.text(), /^retry_tasks\{/m)
    assert.match(await refused.text(), /"code":"scope-missing"/)
  })

  it('has lines that back up a running service for nobody else to read, and restore it whole', async () => {
    const { folder, client, service } = await atWork()
    const bodyText = 'a large body '.repeat(10_000)
    const { bodyRef } = await client.bodies.upload(bodyText)
    const { taskId } = await client.tasks.enqueue({
      targetUrl: `${service.url}/_flaky/503x1`,
      bodyRef,
      delayMs: 3_600_000,
    })
    const [backup, restore] = linesBelow('Backup')
    const others = Array.from({ length: 1_000 }, () => ({
      targetUrl: `${service.url}/_flaky/503x1`,
      delayMs: 3_600_000,
    }))
    await Promise.all([pasteLine(backup!, folder), client.tasks.enqueueMany(others)])
    await service.stop()
    await pasteLine(restore!, folder)
    for (const directory of ['backup', 'data'])
      for (const path of ['', 'tasks.db', 'bodies'])
        assert.equal(statSync(join(folder, directory, path)).mode & 0o077, 0, `others can read ${directory}/${path}`)
    const again = await startService({ config: { ...DEFAULT_CONFIG, port: 0, data: join(folder, 'data') }, ...QUIET })
    onTestFinished(() => again.stop())
    const restored = createClient({ url: again.url })
    assert.equal((await restored.tasks.get(taskId)).status, 'PENDING')
    assert.equal(new TextDecoder().decode(await restored.bodies.get(bodyRef)), bodyText)
    await assert.rejects(pasteLine(backup!, folder), /file-exists.*is there already/s)
  })
})
