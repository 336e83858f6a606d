import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, it } from 'vitest'
import type { MoverAsk } from '../mover/mover-thread.ts'
import { createLogMoving } from './log-moving.ts'

function setting(move: (what: MoverAsk) => Promise<boolean>) {
  const steps: string[] = []
  const moving = createLogMoving({
    move: what => {
      steps.push(what)
      return move(what)
    },
    keep: async () => steps.push('keep'),
    moveRest: async () => steps.push('rest'),
  })
  const commit = (count: number): void => {
    for (let at = 0; at < count; at++) moving.wrote()
  }
  return { moving, steps, commit }
}

/** Finds a long log, and then so often more than the writer should move. */
function findingMore(times: number): (what: MoverAsk) => Promise<boolean> {
  let left = times
  return async what => what === 'long' || left-- > 0
}

describe('moving the log', () => {
  it('is looked at once in a hundred commits, and the writer is asked only when something was moved', async () => {
    let isLong = false
    const { moving, steps, commit } = setting(async what => isLong && what === 'long')
    commit(99)
    assert.deepEqual(steps, [])
    commit(1)
    await moving.settled()
    assert.deepEqual(steps, ['long'])
    isLong = true
    commit(100)
    await moving.settled()
    assert.deepEqual(steps, ['long', 'long', 'keep', 'more', 'rest'])
  })

  it('leaves the writer little to move, and nothing of all that was moved before to wait for', async () => {
    const { moving, steps, commit } = setting(findingMore(2))
    commit(100)
    await moving.settled()
    assert.deepEqual(steps, ['long', 'keep', 'more', 'keep', 'more', 'keep', 'more', 'rest'])
  })

  it('goes to the writer in the end, however much comes meanwhile', async () => {
    const { moving, steps, commit } = setting(findingMore(Infinity))
    commit(100)
    await moving.settled()
    assert.deepEqual([steps.length, steps.at(-1)], [9, 'rest'])
  })

  it('is done one at a time, however much is committed meanwhile', async () => {
    let goOn = (): void => {}
    const { moving, steps, commit } = setting(what =>
      what === 'long' ? new Promise(resolve => (goOn = () => resolve(true))) : Promise.resolve(false),
    )
    commit(1_000)
    await turn()
    assert.deepEqual(steps, ['long'])
    goOn()
    await moving.settled()
    assert.deepEqual(steps, ['long', 'keep', 'more', 'rest'])
    commit(1)
    assert.deepEqual(steps.slice(4), ['long'])
    goOn()
  })

  it('is tried again after it has failed', async () => {
    let isFull = true
    const { moving, steps, commit } = setting(async what => {
      if (isFull) throw new Error('no room')
      return what === 'long'
    })
    commit(100)
    await moving.settled()
    isFull = false
    commit(100)
    await moving.settled()
    assert.deepEqual(steps, ['long', 'keep', 'long', 'keep', 'more', 'rest'])
  })

  it('asks the writer for nothing where what was moved could not be kept', async () => {
    const steps = await failing('keep')
    assert.deepEqual(steps, ['long', 'keep', 'keep'])
  })

  it('asks whether the disk has kept what was moved, wherever it fails: SQLite may have been told that it has not', async () => {
    assert.deepEqual(await failing('long'), ['long', 'keep'])
    assert.deepEqual(await failing('rest'), ['long', 'keep', 'more', 'rest', 'keep'])
  })
})

async function failing(at: string): Promise<readonly string[]> {
  const steps: string[] = []
  const step = async <Value>(name: string, value: Value): Promise<Value> => {
    steps.push(name)
    if (name === at) throw new Error('EIO')
    return value
  }
  const moving = createLogMoving({
    move: what => step(what, what === 'long'),
    keep: () => step('keep', undefined),
    moveRest: () => step('rest', undefined),
  })
  for (let commits = 0; commits < 100; commits++) moving.wrote()
  await moving.settled()
  return steps
}
