import assert from 'node:assert/strict'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { NOBODY, secondwind, whyAlone, type Ended } from '../command-line.test-kit.ts'
import type { Finding } from '../doctor/finding.ts'
import { startProgram, temporaryDirectory } from './serve.test-kit.ts'

const WHY_ALONE = whyAlone()

describe.skipIf(WHY_ALONE !== '')(`for a user who may not look into the data directory${WHY_ALONE}`, () => {
  const asNobody = (...words: readonly string[]): Promise<Ended> => secondwind(words, { uid: NOBODY })

  it('serve says that the store cannot be opened', async () => {
    const data = temporaryDirectory()
    chmodSync(data, 0o700)
    const { stderr, exitCode } = await asNobody('serve', '--data', data, '--port', '0')
    assert.match(stderr, /^error store-read-only {2}the store in \S+ cannot be opened\n/)
    assert.equal(exitCode, 1)
  })

  it('doctor says whose it is, nothing of who works there, and proposes nothing that would take it away', async () => {
    const { data, url } = await aLiveDirectory()
    for (const place of [data, join(data, 'deeper')]) {
      const { stdout } = await asNobody('doctor', '--data', place, '--url', url, '--json')
      const { findings } = JSON.parse(stdout) as { findings: readonly Finding[] }
      assert.deepEqual(
        findings.filter(({ check }) => check === 'data'),
        [
          {
            check: 'data',
            level: 'bad',
            say: `${data} belongs to root, and is closed to you: what is in it was not looked at.`,
            next: `sudo -u root secondwind doctor --data ${place}`,
          },
        ],
      )
    }
  })

  it('backup says whose it is, and not that there is nothing', async () => {
    const { data } = await aLiveDirectory()
    const { stderr, exitCode } = await asNobody('backup', '--data', data, '/tmp/secondwind-copy')
    assert.match(stderr, /^error store-unreachable .*\n\n {2}\S+tasks\.db cannot be read \(EACCES\)\.\n/)
    assert.ok(stderr.includes(`  ${data} belongs to root, and is closed to you.\n`), stderr)
    assert.ok(stderr.endsWith(`do   sudo -u root secondwind backup --data ${data} /tmp/secondwind-copy\n`), stderr)
    assert.equal(exitCode, 1)
  })
})

async function aLiveDirectory(): Promise<{ readonly data: string; readonly url: string }> {
  const data = temporaryDirectory()
  const { url } = await startProgram(['dev', '--data', data, '--port', '0'])
  return { data, url }
}
