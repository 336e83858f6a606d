import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { oneForAll, soonOrNow } from './disk.ts'

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

describe('what is kept soon', () => {
  /** A disk that keeps at once, and a while that passes when the test says so. */
  function soonSetting(keep: () => Promise<void> = async () => {}) {
    const whiles: (() => void)[] = []
    let keeps = 0
    const counted = (): Promise<void> => {
      keeps++
      return keep()
    }
    const keeping = soonOrNow(counted, () => new Promise(resolve => whiles.push(resolve)))
    const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
    return { keeping, turn, keeps: () => keeps, pass: (place: number) => whiles[place]!() }
  }

  it('waits for a while, and then for the disk, once for all who came', async () => {
    const { keeping, turn, keeps, pass } = soonSetting()
    const kept = [keeping.keepSoon(), keeping.keepSoon()]
    await turn()
    assert.equal(keeps(), 0)
    pass(0)
    await Promise.all(kept)
    assert.equal(keeps(), 1)
    const next = keeping.keepSoon()
    pass(1)
    await next
    assert.equal(keeps(), 2)
  })

  it('goes along with whoever waits, and is not kept again when its while has passed', async () => {
    const { keeping, turn, keeps, pass } = soonSetting()
    const soon = keeping.keepSoon()
    await keeping.keep()
    await soon
    const hurried = keeping.keepSoon()
    keeping.hurry()
    await hurried
    keeping.hurry()
    const last = keeping.keepSoon()
    pass(0)
    pass(1)
    await turn()
    assert.equal(keeps(), 2)
    pass(2)
    await last
    assert.equal(keeps(), 3)
  })

  it('fails if the disk does', async () => {
    const { keeping } = soonSetting(() => Promise.reject(new Error('EIO')))
    const soon = keeping.keepSoon()
    keeping.hurry()
    await assert.rejects(soon, /EIO/)
  })
})
