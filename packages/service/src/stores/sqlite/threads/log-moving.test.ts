import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, it } from 'vitest'
import { createLogMoving } from './log-moving.ts'

function setting(moveMost: () => Promise<boolean>) {
  const steps: string[] = []
  const moving = createLogMoving({
    moveMost: () => {
      steps.push('most')
      return moveMost()
    },
    moveRest: async () => steps.push('rest'),
  })
  const commit = (count: number): void => {
    for (let at = 0; at < count; at++) moving.wrote()
  }
  return { moving, steps, commit }
}

describe('moving the log', () => {
  it('is looked at once in a hundred commits, and the writer is asked only when something was moved', async () => {
    let isLong = false
    const { moving, steps, commit } = setting(async () => isLong)
    commit(99)
    assert.deepEqual(steps, [])
    commit(1)
    await moving.settled()
    assert.deepEqual(steps, ['most'])
    isLong = true
    commit(100)
    await moving.settled()
    assert.deepEqual(steps, ['most', 'most', 'rest'])
  })

  it('is done one at a time, however much is committed meanwhile', async () => {
    let goOn = (): void => {}
    const { moving, steps, commit } = setting(() => new Promise(resolve => (goOn = () => resolve(true))))
    commit(1_000)
    await turn()
    assert.deepEqual(steps, ['most'])
    goOn()
    await moving.settled()
    assert.deepEqual(steps, ['most', 'rest'])
    commit(1)
    assert.deepEqual(steps, ['most', 'rest', 'most'])
    goOn()
  })

  it('is tried again after it has failed', async () => {
    let isFull = true
    const { moving, steps, commit } = setting(async () => {
      if (isFull) throw new Error('no room')
      return true
    })
    commit(100)
    await moving.settled()
    isFull = false
    commit(100)
    await moving.settled()
    assert.deepEqual(steps, ['most', 'most', 'rest'])
  })
})
