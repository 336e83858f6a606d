import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, vi } from 'vitest'
import { aService, temporaryDirectory } from './service.test-kit.ts'
import { openFile } from './stores/sqlite/file.ts'

vi.setConfig({ testTimeout: 60_000 })

/** Data as an earlier process left it. */
function presentData(): string {
  const data = temporaryDirectory()
  openFile({ directory: data }).close()
  return data
}

const contentsOf = (data: string): readonly unknown[] =>
  readdirSync(data).map(name => [name, readFileSync(join(data, name)).toString('base64')])

describe('a start that is refused', () => {
  it('for a file where the data directory should be says that it is none', async () => {
    const data = join(temporaryDirectory(), 'tasks')
    writeFileSync(data, 'mine')
    await assert.rejects(aService({ data }, false), { code: 'no-directory', message: `${data} is not a directory` })
    assert.equal(readFileSync(data, 'utf8'), 'mine')
  })

  const taken = async (): Promise<number> => Number(new URL((await aService({ store: 'memory' })).url).port)
  const refusals = [
    { code: 'port-taken', settings: async () => ({ port: await taken() }) },
    { code: 'cannot-listen', settings: async () => ({ host: '192.0.2.1', adminKey: 'k'.repeat(64) }) },
    { code: 'no-keys', settings: async () => ({ host: '0.0.0.0' }) },
  ]
  for (const { code, settings } of refusals) {
    it(`with ${code} leaves the data as it was`, async () => {
      const data = presentData()
      const before = contentsOf(data)
      await assert.rejects(aService({ data, ...(await settings()) }, false), { code })
      assert.deepEqual(contentsOf(data), before)
    })

    it(`with ${code} makes no directory`, async () => {
      const data = join(temporaryDirectory(), 'new')
      await assert.rejects(aService({ data, ...(await settings()) }, false), { code })
      assert.ok(!existsSync(data))
    })
  }

  it('because its directory cannot be looked into is told by the store, and not by the search for keys', async () => {
    const data = join(temporaryDirectory(), 'round')
    symlinkSync(data, data)
    await assert.rejects(aService({ data }, false), { name: 'StartFailure', code: 'store-unreachable' })
  })

  it('has not overlooked keys: data that has some may be reached from elsewhere', async () => {
    const data = temporaryDirectory()
    const first = await aService({ data })
    const made = await first.call('/keys', { scopes: ['admin'], isOperator: true })
    assert.equal(made.status, 201)
    await first.stop()
    const again = await aService({ data, host: '0.0.0.0' }, false)
    assert.equal(again.openAt, '0.0.0.0')
  })
})
