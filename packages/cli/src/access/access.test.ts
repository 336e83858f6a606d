import type { AuditEntry, Key, RetryTask } from '@secondwind/client'
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import { pasted } from '../command-line.test-kit.ts'
import { ACTIONS } from './actions.ts'
import { aService, type RunningService } from '../remote/service.test-kit.ts'

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'secondwind-keys-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A service with its first key, and the words that use it. */
async function aLockedService(): Promise<{ service: RunningService; asAdmin: readonly string[]; folder: string }> {
  const service = await aService()
  const folder = aFolder()
  const file = join(folder, 'admin.key')
  const words = ['keys', 'create', '--operator', '--scope', 'admin', '--name', 'first', '--write', file]
  const { exitCode, stdout, stderr } = await service.atTerminal(words)
  assert.equal(exitCode, 0, stderr)
  assert.doesNotMatch(stderr, /wrote/)
  assert.match(
    stdout,
    /^the key is in .*\n\n\S+ may admin for every tenant\. From now on every request needs a\skey\.\n$/,
  )
  assert.match(readFileSync(file, 'utf8'), /^swk_[0-9a-f]{16}_\S+\n$/)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  return { service, asAdmin: ['--key-file', file], folder }
}

describe('keys', () => {
  it('lock a service with the first one: without it exit code 4, with it all goes on', async () => {
    const { service, asAdmin } = await aLockedService()
    const locked = await service.inPipe(['tasks', 'list'])
    assert.equal(locked.exitCode, 4)
    assert.match(locked.stderr, /asks for a key[^]*export SECONDWIND_KEY/)
    assert.equal((await service.inPipe(['tasks', 'list', ...asAdmin])).exitCode, 0)
  })

  it('begin with one that can make others, and say how that is typed', async () => {
    const { inPipe } = await aService()
    const { exitCode, stderr } = await inPipe(['keys', 'create', '--scope', 'enqueue'])
    assert.equal(exitCode, 5)
    assert.doesNotMatch(stderr, /isOperator|\[/)
    assert.match(stderr, /do {3}secondwind keys create --operator --scope admin --name first --write admin\.key --url/)
  })

  it('end with one that can make others, and the last of those stays until there is another', async () => {
    const { service, asAdmin } = await aLockedService()
    const keyId = (await service.inPipe(['keys', 'list', '--ids', ...asAdmin])).stdout.trim()
    const { exitCode, stderr } = await service.inPipe(['keys', 'revoke', keyId, '--yes', ...asAdmin])
    assert.deepEqual([exitCode, stderr.includes('isOperator')], [5, false])
    assert.match(stderr, /make another operator’s key first, with the scope admin and without an end\./)
    assert.match(
      stderr,
      /do {3}secondwind keys create --operator --scope admin --name second --write second-admin\.key/,
    )
  })

  it('are proposed to be written where no other one is', async () => {
    const { service, asAdmin, folder } = await aLockedService()
    const keyId = (await service.inPipe(['keys', 'list', '--ids', ...asAdmin])).stdout.trim()
    const file = 'second-admin.key'
    renameSync(join(folder, 'admin.key'), join(folder, file))
    const revoke = `secondwind keys revoke ${keyId} --yes --url ${service.url} --key-file ${file}`
    const [, line = ''] = /do {3}(.*)/.exec((await pasted(revoke, folder)).stderr) ?? []
    assert.match(line, / --write second-admin-2\.key .*--key-file second-admin\.key$/)
    assert.equal((await pasted(line, folder)).exitCode, 0)
  })

  it('do what they may, and nothing else', async () => {
    const { service, asAdmin, folder } = await aLockedService()
    const file = join(folder, 'reader.key')
    const words = ['keys', 'create', '--scope', 'read', '--expires', '90d', '--write', file, '--json', ...asAdmin]
    const made = await service.inPipe(words)
    const { keyId, scopes, expiresAt } = JSON.parse(made.stdout) as Key
    assert.deepEqual([scopes, Math.round((expiresAt! - Date.now()) / 86_400_000)], [['read'], 90])
    assert.equal((await service.inPipe(['tasks', 'list', '--key-file', file])).exitCode, 0)
    const refused = await service.inPipe(['keys', 'list', '--key-file', file])
    assert.deepEqual([refused.exitCode, refused.stderr.startsWith('error scope-missing ')], [4, true])
    const listed = await service.inPipe(['keys', 'list', ...asAdmin])
    assert.match(listed.stdout, new RegExp(`\n${keyId}\t`))
    assert.match(listed.stderr, /^the keys of every tenant, and operators' own; --tenant <name> shows those of one\n$/)
    const ofOne = await service.inPipe(['keys', 'list', '--tenant', 'default', ...asAdmin])
    assert.match(ofOne.stderr, /^the keys of default; with an operator's key --all shows those of everybody\n$/)
  })

  it('are proposed for what they may do, in place of the one that made them', async () => {
    const { service, asAdmin, folder } = await aLockedService()
    const proposedFor = async (scope: string): Promise<string> => {
      const words = ['keys', 'create', '--scope', scope, '--write', join(folder, scope), ...asAdmin]
      return (await service.atTerminal(words)).stderr
    }
    const { url } = service
    assert.match(
      await proposedFor('read'),
      new RegExp(`try {2}secondwind tasks list --url ${url} --key-file \\S+/read\n`),
    )
    assert.match(
      await proposedFor('admin'),
      new RegExp(`try {2}secondwind keys list --url ${url} --key-file \\S+/admin\n`),
    )
    assert.match(await proposedFor('enqueue'), /try {2}export SECONDWIND_KEY="\$\(cat \S+\/enqueue\)"\n/)
  })

  it('are alone on stdout in a pipe, as secrets are: a shell can keep them in a variable', async () => {
    const { service, asAdmin } = await aLockedService()
    const line = async (...words: string[]): Promise<string> => {
      const { stdout, stderr } = await service.inPipe([...words, ...asAdmin])
      assert.match(stderr, /^.*(?:may read for tenant default; nobody|is taken until|are signed|sign until)/)
      return stdout
    }
    assert.match(await line('keys', 'create', '--scope', 'read'), /^swk_\S+\n$/)
    const [keyId = ''] = (await service.inPipe(['keys', 'list', '--ids', ...asAdmin])).stdout.split('\n')
    assert.match(await line('keys', 'rotate', keyId), /^swk_\S+\n$/)
    assert.match(await line('secrets', 'create', '--tenant', 'default'), /^whsec_\S+\n$/)
    const { stdout } = await service.inPipe(['secrets', 'list', '--ids', '--tenant', 'default', ...asAdmin])
    assert.match(await line('secrets', 'rotate', stdout.trim(), '--tenant', 'default'), /^whsec_\S+\n$/)
  })

  it('are rotated with an overlap, and revoked after a yes', async () => {
    const { service, asAdmin, folder } = await aLockedService()
    const [before, after] = [join(folder, 'before.key'), join(folder, 'after.key')]
    const made = await service.inPipe(['keys', 'create', '--scope', 'read', '--write', before, '--json', ...asAdmin])
    const { keyId } = JSON.parse(made.stdout) as Key
    const rotated = await service.inPipe(['keys', 'rotate', keyId, '--overlap', '1h', '--write', after, ...asAdmin])
    assert.match(rotated.stdout, /The old text is taken until .*, in 60 min\./)
    for (const file of [before, after])
      assert.equal((await service.inPipe(['tasks', 'list', '--key-file', file])).exitCode, 0)
    const nobody = await service.atTerminal(['keys', 'revoke', 'nope', ...asAdmin], { answers: ['yes'] })
    assert.deepEqual([nobody.exitCode, nobody.questions], [3, []])
    assert.match(nobody.stderr, /^error key-not-found {2}there is no key nope\n[^]*do {3}secondwind keys list/)
    const unasked = await service.inPipe(['keys', 'revoke', keyId, ...asAdmin])
    assert.deepEqual([unasked.exitCode, unasked.stderr.includes('may read')], [2, true])
    const words = ['keys', 'revoke', keyId, '--reason', 'left the team', ...asAdmin]
    const revoked = await service.atTerminal(words, { answers: ['yes'] })
    assert.equal(revoked.stdout, `revoked ${keyId}\n`)
    assert.equal((await service.inPipe(['tasks', 'list', '--key-file', after])).exitCode, 4)
    const audit = await service.inPipe(['audit', '--subject', keyId, '--json', ...asAdmin])
    const { items } = JSON.parse(audit.stdout) as { items: readonly AuditEntry[] }
    assert.deepEqual(
      items.map(({ action, reason }) => [action, reason]),
      [
        ['key.revoke', 'left the team'],
        ['key.rotate', undefined],
        ['key.create', undefined],
      ],
    )
  })

  it('stand in the audit by what was done: what nobody can do is told', async () => {
    const { service, asAdmin } = await aLockedService()
    const known = await service.inPipe(['audit', '--action', 'task.replay', ...asAdmin])
    assert.deepEqual([known.exitCode, known.stderr], [0, ''])
    const slip = await service.inPipe(['audit', '--action', 'key.creat', ...asAdmin])
    assert.match(slip.stderr, /^no action is called key\.creat; did you mean key\.create\?\n/)
    const { stdout } = await service.inPipe(['audit', '--json', ...asAdmin])
    const { items } = JSON.parse(stdout) as { items: readonly AuditEntry[] }
    for (const { action } of items) assert.ok(ACTIONS.includes(action), action)
  })

  it('are called by their names on the page of a task that they brought, and dated in UTC in the audit', async () => {
    const { service, asAdmin } = await aLockedService()
    const submit = ['tasks', 'submit', `${service.url}/_flaky/200`, '--json', '--tenant', 'default', ...asAdmin]
    const { taskId, createdBy } = JSON.parse((await service.inPipe(submit)).stdout) as RetryTask
    const { stdout } = await service.atTerminal(['tasks', 'get', taskId, ...asAdmin])
    assert.match(stdout, /^ {2}created by first$/m)
    assert.ok(!stdout.includes(createdBy!))
    const audit = await service.atTerminal(['audit', ...asAdmin], { columns: 80 })
    assert.match(audit.stdout, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ {2}/m)
  })

  it('stand in the audit by their names, with why and for whom, at 80 columns too', async () => {
    const { service, asAdmin } = await aLockedService()
    await service.inPipe(['tenants', 'create', 'acme', '--reason', 'a new customer', ...asAdmin])
    const pause = ['pause', 'https://api.pay.example', '--tenant', 'acme', '--reason', 'INC-2231']
    await service.inPipe([...pause, ...asAdmin])
    const { stdout } = await service.atTerminal(['audit', '--all', ...asAdmin], { columns: 80 })
    assert.ok(
      stdout.split('\n').every(line => line.length <= 80),
      stdout,
    )
    assert.match(stdout, /^\S+Z {2}destination\.pause {2}by first {2}for acme\n {4}https:\/\/\S+ {2}INC-2231\n/)
    const wide = (await service.atTerminal(['audit', '--all', ...asAdmin], { columns: 120 })).stdout
    assert.match(wide, /^AT +BY +ACTION +SUBJECT +REASON +TENANT +DETAILS\n/)
    assert.match(wide, /\n\S+Z +first +destination\.pause +https:\/\/\S+ +INC-2231 +acme\n/)
    const rows = await service.inPipe(['audit', '--all', ...asAdmin])
    assert.doesNotMatch(rows.stdout, /\tfirst\t/, 'programs get ids')
  })

  it('stand there with ids that can be copied, at 80 columns too, and for programs with whether an operator has it', async () => {
    const { service, asAdmin } = await aLockedService()
    const submit = ['tasks', 'submit', `${service.url}/_flaky/200`, '--delay', '1h', '--json', ...asAdmin]
    const { taskId } = JSON.parse((await service.inPipe(submit)).stdout) as { taskId: string }
    await service.inPipe(['tasks', 'cancel', taskId, '--yes', ...asAdmin])
    const { stdout } = await service.atTerminal(['audit', ...asAdmin], { columns: 80 })
    assert.ok(stdout.includes(taskId), stdout)
    assert.ok(stdout.split('\n').every(line => line.length <= 80))
    const [heading, row] = (await service.inPipe(['keys', 'list', ...asAdmin])).stdout.split('\n')
    const at = heading!.split('\t').indexOf('isOperator')
    assert.equal(row!.split('\t')[at], 'true')
  })

  it('are called by their names wherever somebody’s order is shown', async () => {
    const { service, asAdmin } = await aLockedService()
    const type = async (...words: readonly string[]): Promise<string> =>
      (await service.atTerminal([...words, ...asAdmin])).stdout.replaceAll(/\s+/g, ' ')
    const named = ['https://api.pay.example', '--reason', 'INC-2231']
    assert.match(await type('pause', ...named), / paused since [^,]+, .*, by first: INC-2231 /)
    await type('destinations', 'limits', ...named, '--concurrency', '5')
    await type('kill', 'on', '--reason', 'INC-2232', '--yes')
    const shown = await type('destinations', 'get', 'https://api.pay.example')
    assert.match(shown, / paused since [^,]+, .*, by first: INC-2231 limits 5 at once, since .*, by first: INC-2231 /)
    const found = await type('doctor')
    assert.match(found, /https:\/\/api\.pay\.example is paused .*, by first: INC-2231\. .*/)
    assert.match(found, /retries-off for everything, .* \(INC-2232\): .*; since .*, by first\. /)
    await type('secrets', 'create')
    assert.match(await type('secrets', 'list'), / first /)
    assert.match(await type('keys', 'create', '--scope', 'read', '--name', 'second'), /may read/)
    assert.match(await type('keys', 'list'), / second .* first /)
  })

  it('are not written over another, and not made when they could not be written', async () => {
    const { service, asAdmin, folder } = await aLockedService()
    const taken = join(folder, 'admin.key')
    const before = readFileSync(taken, 'utf8')
    const { exitCode, stderr } = await service.inPipe([
      'keys',
      'create',
      '--scope',
      'read',
      '--write',
      taken,
      ...asAdmin,
    ])
    assert.deepEqual([exitCode, stderr.startsWith('error file-exists')], [2, true])
    assert.equal(readFileSync(taken, 'utf8'), before)
    assert.equal(
      (await service.inPipe(['keys', 'list', '--all', '--ids', ...asAdmin])).stdout.trim().split('\n').length,
      1,
    )
    const wrong = await service.inPipe(['keys', 'create', '--scope', 'everything', ...asAdmin])
    assert.match(wrong.stderr, /--scope must be one of enqueue, read/)
  })
})

describe('tenants and secrets', () => {
  it('have room of their own: an operator acts for one with --tenant', async () => {
    const { inPipe, atTerminal } = await aService()
    assert.match(
      (await atTerminal(['tenants', 'create', 'acme'])).stderr,
      /try {2}secondwind keys create --tenant acme/,
    )
    assert.equal((await inPipe(['tenants', 'list', '--ids'])).stdout, 'default\nacme\n')
    const policy = '{"policyId":"payments","maxAttempts":3}'
    assert.equal((await inPipe(['policies', 'put', policy, '--tenant', 'acme'])).exitCode, 0)
    assert.equal((await inPipe(['policies', 'get', 'payments'])).exitCode, 3)
    assert.equal((await inPipe(['policies', 'get', 'payments', '--tenant', 'acme'])).exitCode, 0)
    assert.equal((await inPipe(['tasks', 'list', '--tenant', 'NO such'])).exitCode, 2)
  })

  it('sign deliveries from when a secret is made to when it is deleted', async () => {
    const { inPipe, atTerminal } = await aService()
    const made = await atTerminal(['secrets', 'create', '--destination', 'https://api.example'])
    assert.match(made.stdout, /^whsec_\S+\n\nDeliveries to https:\/\/api\.example are signed from now on\.\n$/)
    const secretId = (await inPipe(['secrets', 'list', '--ids'])).stdout.trim()
    const rotated = await inPipe(['secrets', 'rotate', secretId, '--overlap', '1h', '--json'])
    assert.match((JSON.parse(rotated.stdout) as { secret: string }).secret, /^whsec_/)
    assert.doesNotMatch((await inPipe(['secrets', 'list', '--json'])).stdout, /whsec_/)
    const nobody = await atTerminal(['secrets', 'delete', '0123456789abcdef'], { answers: ['yes'] })
    assert.deepEqual([nobody.exitCode, nobody.questions], [3, []])
    assert.match(nobody.stderr, /^error secret-not-found {2}there is no secret 0\w+\n[^]*do {3}secondwind secrets list/)
    const unasked = await inPipe(['secrets', 'delete', secretId])
    assert.deepEqual([unasked.exitCode, unasked.stderr.includes('deliveries to https://api.example')], [2, true])
    assert.equal((await inPipe(['secrets', 'delete', secretId, '--yes'])).stdout, `deleted ${secretId}\n`)
    assert.equal((await atTerminal(['secrets', 'list'])).stdout, 'No secrets: deliveries are not signed.\n')
  })

  it('say whose deliveries a secret signs, where there are several tenants', async () => {
    const { atTerminal, client } = await aService()
    assert.match((await atTerminal(['secrets', 'create'])).stdout, /Deliveries to all that have no secret of their own/)
    await client.tenants.create({ tenant: 'beta' })
    const verdictOf = async (...words: readonly string[]): Promise<string> =>
      (await atTerminal(['secrets', 'create', ...words])).stdout
    assert.match(await verdictOf('--destination', 'https://a.example'), /Deliveries of tenant default to https:/)
    assert.match(
      await verdictOf('--tenant', 'beta'),
      /Deliveries of tenant beta to all that have no secret of their own/,
    )
  })
})
