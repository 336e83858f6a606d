import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { oneForAll } from './disk.ts'

/** Waits that end when the test says so. */
function setting() {
  const waits: { resolve(): void; reject(error: Error): void }[] = []
  const keep = oneForAll(() => new Promise((resolve, reject) => waits.push({ resolve, reject })))
  const ended: string[] = []
  const keepAs = (name: string): void =>
    void keep().then(
      () => ended.push(name),
      () => ended.push(`not ${name}`),
    )
  const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
  return { waits, ended, keepAs, turn }
}

describe('waiting for the disk', () => {
  it('is done once for all who came before it began, and once more for all who came since', async () => {
    const { waits, ended, keepAs, turn } = setting()
    for (const name of ['a', 'b', 'c']) keepAs(name)
    assert.equal(waits.length, 1)
    waits[0]!.resolve()
    await turn()
    assert.deepEqual([ended, waits.length], [['a'], 2])
    keepAs('d')
    waits[1]!.resolve()
    await turn()
    assert.deepEqual([ended, waits.length], [['a', 'b', 'c'], 3])
    waits[2]!.resolve()
    await turn()
    assert.deepEqual(ended, ['a', 'b', 'c', 'd'])
    keepAs('e')
    assert.equal(waits.length, 4)
  })

  it('fails for all who come after it failed once: what was written before may be gone', async () => {
    const { waits, ended, keepAs, turn } = setting()
    for (const name of ['a', 'b']) keepAs(name)
    waits[0]!.reject(new Error('EIO'))
    await turn()
    keepAs('c')
    await turn()
    assert.deepEqual([ended, waits.length], [['not a', 'not b', 'not c'], 1])
  })
})
