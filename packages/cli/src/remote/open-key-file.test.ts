import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { secondwind } from '../command-line.test-kit.ts'
import { temporaryDirectory } from '../service/serve.test-kit.ts'
import { aService } from './service.test-kit.ts'

function aKeyFile(mode: number): string {
  const path = join(temporaryDirectory(), 'admin.key')
  writeFileSync(path, 'a-key-of-some-forty-characters-for-everything\n')
  chmodSync(path, mode)
  return path
}

describe.skipIf(process.platform === 'win32')('a file with a key that others can read', () => {
  it('is used, and told of with the line that closes it', async () => {
    const { inPipe } = await aService()
    const [open, closed] = [aKeyFile(0o644), aKeyFile(0o600)]
    const { stderr, exitCode } = await inPipe(['tasks', 'list', '--key-file', open])
    assert.equal(exitCode, 0)
    assert.equal(stderr, `warning: Others on this machine can read the key in ${open}.\n  do   chmod 600 ${open}\n`)
    assert.equal((await inPipe(['tasks', 'list', '--key-file', closed])).stderr, '')
  })

  it('keeps no service from starting, which says so once', async () => {
    const open = aKeyFile(0o644)
    const words = ['serve', '--port', '0', '--host', '192.0.2.1', '--store', 'memory', '--admin-key-file', open]
    const { stderr } = await secondwind(words)
    assert.equal(stderr.match(/can read the key in/g)?.length, 1)
    assert.match(stderr, /error cannot-listen/, 'it went on to what else is wrong')
  })
})
