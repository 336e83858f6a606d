import { createClient } from '@secondwind/client'
import { DEFAULT_CONFIG, startService } from '@secondwind/service'
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import { atTerminal } from '../command-line.test-kit.ts'
import { temporaryDirectory } from './serve.test-kit.ts'

/** A service with a body, a task that waits for it and one that has ended, and a copy of it all. */
async function aCopy() {
  const folder = temporaryDirectory()
  const [data, copy] = [join(folder, 'data'), join(folder, 'backup')]
  const config = { ...DEFAULT_CONFIG, port: 0, data }
  const service = await startService({ config, isDevelopment: true, log: () => {}, logLevel: 'error' })
  onTestFinished(() => service.stop())
  const { url } = service
  const client = createClient({ url })
  const targetUrl = `${url}/_flaky/200`
  const { bodyRef } = await client.bodies.upload('a body')
  await client.tasks.enqueue({ targetUrl, bodyRef, delayMs: 3_600_000 })
  await client.waitFor((await client.tasks.enqueue({ targetUrl })).taskId)
  return { data, copy, bodyRef, made: await atTerminal(['backup', '--data', data, copy]) }
}

/** Every file, with what is in it and when it was written. */
function contentOf(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map(name => {
      const path = join(directory, name)
      const found = statSync(path)
      const bytes = found.isDirectory() ? '' : readFileSync(path)
      return `${name} ${found.mtimeMs} ${createHash('sha256').update(bytes).digest('hex')}`
    })
}

describe('a copy of the data directory', () => {
  it('is followed by a look at it, which sends nothing and writes nothing', async () => {
    const { copy, made } = await aCopy()
    assert.equal(made.stderr, `\ntry  secondwind backup check ${copy}\n`)
    const before = contentOf(copy)
    const { stdout, exitCode } = await atTerminal(['backup', 'check', copy])
    assert.equal(exitCode, 0)
    assert.match(
      stdout,
      /^ {2}PENDING {4}1\n.*^ {2}SUCCEEDED {2}1\n.*^ {2}bodies {5}1\n.*It is whole\. A service that/ms,
    )
    assert.deepEqual(contentOf(copy), before)
  })

  it('is not whole without a body that its tasks need, and no copy in the format of another version', async () => {
    const { copy, bodyRef } = await aCopy()
    const [folder] = readdirSync(join(copy, 'bodies'))
    rmSync(join(copy, 'bodies', folder!), { recursive: true })
    const { stdout, exitCode } = await atTerminal(['backup', 'check', copy, '--json'])
    const { isWhole, bodies } = JSON.parse(stdout) as { isWhole: boolean; bodies: object }
    const lacks = { tenant: 'default', bodyRef, is: 'missing' }
    assert.deepEqual([exitCode, isWhole, bodies], [6, false, { needed: 1, missing: 1, damaged: 0, unsound: [lacks] }])
    const file = readFileSync(join(copy, 'tasks.db'))
    file.writeUInt32BE(999, 60) // user_version, sqlite.org/fileformat.html
    writeFileSync(join(copy, 'tasks.db'), file)
    const refused = await atTerminal(['backup', 'check', copy])
    assert.match(refused.stderr, /its format is 999, this one reads 1\)/)
    assert.notEqual(refused.exitCode, 0)
  })

  it('is not whole with a body whose bytes are not those that were uploaded', async () => {
    const { copy } = await aCopy()
    const [folder] = readdirSync(join(copy, 'bodies'))
    const [body] = readdirSync(join(copy, 'bodies', folder!))
    for (const bytes of ['a bodY', 'a bod', 'a body, and more']) {
      writeFileSync(join(copy, 'bodies', folder!, body!), bytes)
      const { stdout, exitCode } = await atTerminal(['backup', 'check', copy])
      assert.equal(exitCode, 6)
      assert.match(stdout, /^ {2}bodies {5}1, 1 damaged\n.*It is not whole:\s\S+\sis\sdamaged\. /ms)
    }
  })

  it('is said at once not to be whole where the original is not, with the body and what to do', async () => {
    const { data, copy, bodyRef } = await aCopy()
    rmSync(join(data, 'bodies'), { recursive: true })
    const made = await atTerminal(['backup', '--data', data, `${copy}-2`])
    assert.equal(made.exitCode, 6)
    const checked = await atTerminal(['backup', 'check', `${copy}-2`])
    assert.equal(checked.exitCode, 6)
    for (const { stdout, stderr } of [made, checked]) {
      const said = stdout.replaceAll(/\s+/g, ' ')
      assert.ok(
        said.includes(`${bodyRef} is missing. Tasks that need it end with body-missing: put the same bytes`),
        said,
      )
      assert.match(stderr, /try {2}secondwind bodies put FILE\n/)
    }
    assert.match(made.stdout.replaceAll(/\s+/g, ' '), /It is not whole, for \S+ is not: sha256-/)
  })

  it('is none where there is no file, or one of somebody else', async () => {
    const folder = temporaryDirectory()
    const empty = await atTerminal(['backup', 'check', folder])
    assert.deepEqual([empty.exitCode, empty.stderr.includes('there is no tasks.db in')], [1, true])
    writeFileSync(join(folder, 'tasks.db'), 'my diary, which is no database at all\n'.repeat(200))
    const { exitCode, stderr } = await atTerminal(['backup', 'check', folder])
    assert.equal(exitCode, 1)
    assert.match(stderr, /^error store-corrupt .* is no copy that could be restored/)
  })

  it('is not made where there is something already, and a free name is proposed', async () => {
    const { data, copy } = await aCopy()
    const { exitCode, stderr } = await atTerminal(['backup', '--data', data, copy])
    assert.equal(exitCode, 2)
    assert.match(stderr, /^error file-exists {2}/)
    assert.ok(stderr.endsWith(`do   secondwind backup --data ${data} ${copy}-2\n`), stderr)
    mkdirSync(`${copy}-2.partial`)
    const cutOff = await atTerminal(['backup', '--data', data, `${copy}-2`])
    assert.match(cutOff.stderr, /^error file-exists .*-2\.partial is there already; a backup is under way/s)
  })

  it('is not made in the directory that is copied, however that is called', async () => {
    const { data } = await aCopy()
    const link = join(data, '..', 'link')
    symlinkSync(data, link)
    const before = readdirSync(data)
    for (const to of [
      join(data, 'copy'),
      join(data, 'bodies', 'ab'),
      join(link, 'bodies', 'ab', ''),
      `${data}/../data/x`,
    ]) {
      const { exitCode, stderr } = await atTerminal(['backup', '--data', data, to])
      assert.equal(exitCode, 1)
      assert.match(stderr, /^error not-writable .* would be in \S+ itself; choose a name elsewhere/s)
    }
    assert.deepEqual(readdirSync(data), before)
    const beside = await atTerminal(['backup', '--data', data, join(data, '..', 'data-copy')])
    assert.equal(beside.exitCode, 0)
  })

  it('has its name without the slash that a shell adds', async () => {
    const { data, copy } = await aCopy()
    assert.equal((await atTerminal(['backup', '--data', data, `${copy}-2/`])).exitCode, 0)
    assert.equal((await atTerminal(['backup', 'check', `${copy}-2`])).exitCode, 0)
    assert.match((await atTerminal(['backup', '--data', data, `${copy}-2/`])).stderr, /^error file-exists {2}/)
  })
})
