import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { Outbox } from './settling.ts'

/** An outbox whose calls are answered by hand. */
function setting() {
  const calls: { readonly items: readonly number[]; readonly answer: (isAnswered: boolean) => Promise<void> }[] = []
  const send = (items: readonly number[]): Promise<boolean> =>
    new Promise(resolve => {
      const answer = async (isAnswered: boolean): Promise<void> => {
        resolve(isAnswered)
        await new Promise(setImmediate)
      }
      calls.push({ items, answer })
    })
  const outbox: Outbox<number> = new Outbox(send, () => outbox.flush())
  return { outbox, calls }
}

describe('an outbox', () => {
  it('sends together what came together, beside what is under way', async () => {
    const { outbox, calls } = setting()
    for (const batch of [[1], [2, 3]]) {
      for (const item of batch) outbox.add(item)
      outbox.flush()
    }
    assert.deepEqual(
      calls.map(call => call.items),
      [[1], [2, 3]],
    )
    await calls[0]!.answer(true)
    assert.equal(outbox.size, 2)
    await calls[1]!.answer(true)
    assert.equal(outbox.size, 0)
  })

  it('sends again what got no answer, behind what has come since', async () => {
    const { outbox, calls } = setting()
    outbox.add(1)
    outbox.flush()
    outbox.add(2)
    await calls[0]!.answer(false)
    await calls[1]!.answer(true)
    await calls[2]?.answer(true)
    assert.deepEqual(
      calls.slice(1).flatMap(call => call.items),
      [2, 1],
    )
  })

  it('finds the one item to blame: all others arrive', async () => {
    const { outbox, calls } = setting()
    for (let item = 0; item < 40; item++) outbox.add(item)
    outbox.flush()
    const arrived = new Set<number>()
    for (let n = 0; n < 60 && arrived.size < 39; n++) {
      const call = calls[n]!
      const isGood = !call.items.includes(17)
      if (isGood) call.items.forEach(item => arrived.add(item))
      await call.answer(isGood)
    }
    assert.equal(arrived.size, 39)
    assert.equal(outbox.size, 1)
  })
})
