import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { Rereading } from './rereading.ts'

/** Readings that end when they are told to, in any order. */
function slowReadings() {
  const underWay: ((value: string | Error) => void)[] = []
  const rereading = new Rereading(
    () =>
      new Promise<string>((resolve, reject) =>
        underWay.push(value => (typeof value === 'string' ? resolve(value) : reject(value))),
      ),
  )
  const begun = async (count: number): Promise<void> => {
    while (underWay.length < count) await Promise.resolve()
  }
  return { rereading, underWay, begun }
}

describe('reading anew', () => {
  it('begins once more for all who asked while a reading was under way, and not before that has ended', async () => {
    const { rereading, underWay, begun } = slowReadings()
    const first = rereading.anew()
    await begun(1)
    const others = Array.from({ length: 100 }, () => rereading.anew())
    await new Promise(resolve => void setImmediate(resolve))
    assert.equal(underWay.length, 1)
    underWay[0]!('old')
    await begun(2)
    underWay[1]!('new')
    assert.equal(await first, 'old')
    assert.deepEqual(new Set(await Promise.all(others)), new Set(['new']))
    assert.equal(underWay.length, 2)
  })

  it('tells of a failure those who waited for it, and nobody else', async () => {
    const { rereading, underWay, begun } = slowReadings()
    const first = rereading.anew()
    await begun(1)
    const second = rereading.anew()
    underWay[0]!(new Error('away'))
    await assert.rejects(first, /away/)
    await begun(2)
    underWay[1]!('back')
    assert.equal(await second, 'back')
  })
})
