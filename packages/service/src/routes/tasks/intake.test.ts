import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { createSharedTurn } from './intake.ts'

describe('a shared turn', () => {
  it('lets all who came in one turn of the event loop go on one after the other, in their order', async () => {
    const turn = createSharedTurn()
    const seen: string[] = []
    const come = async (name: string): Promise<void> => {
      seen.push(`${name} came`)
      await turn()
      seen.push(`${name} went on`)
    }
    await Promise.all([come('one'), come('two'), come('three')])
    assert.deepEqual(seen, ['one came', 'two came', 'three came', 'one went on', 'two went on', 'three went on'])
  })

  it('begins anew for those who come later', async () => {
    const turn = createSharedTurn()
    const first = turn()
    assert.equal(turn(), first)
    await first
    assert.notEqual(turn(), first)
  })
})
