import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { neededForDeadLetter } from '../bodies/needed-until.ts'
import { laneKey } from '../task/lane.ts'
import type { StoredBody } from '../task/task.ts'
import { DOWN, setting as settled } from './dispatcher.test-kit.ts'
import { WELL, type FateOf } from './simulation/faulty-store.test-kit.ts'
import type { World, WorldOptions } from './simulation/world.test-kit.ts'

const LANE = { tenant: 'acme', destination: 'https://api.example' }

async function setting(options: WorldOptions = {}) {
  const { world } = await settled({ behaviourOf: () => DOWN, ...options })
  const { bodyRef, sizeBytes } = await world.upload('a large body')
  const storedBody = { bodyRef, sizeBytes }
  return { world, storedBody, startedAt: world.clock.now() }
}

async function neededUntil(world: World, { bodyRef }: StoredBody): Promise<number> {
  const [body] = await world.store.bodies([{ tenant: LANE.tenant, bodyRef }])
  assert(body !== undefined)
  return body.neededUntil
}

describe('the large body of a task that is given up', () => {
  it('is kept for as long as the dead letter may be replayed, before the task is a dead letter', async () => {
    const verbs: string[] = []
    const { world, storedBody } = await setting({
      policy: { maxAttempts: 1 },
      fateOf: (_, verb) => (['bodies', 'settle'].includes(verb) && verbs.push(verb), WELL),
    })
    await world.enqueue({ storedBody })
    await world.finish(10_000)
    const { now } = await world.store.health()
    assert.ok((await neededUntil(world, storedBody)) >= neededForDeadLetter(now - 2_000))
    assert.deepEqual(verbs, ['bodies', 'bodies', 'settle'], 'read for the attempt, then kept')
  })

  it('keeps the task alive until the store has answered that it is kept', async () => {
    let looks = 0
    // The first is for the attempt.
    const fateOf: FateOf = (_, verb) =>
      verb === 'bodies' && looks++ > 0 && looks < 5 ? { ...WELL, isApplied: false, answer: 'error' } : WELL
    const { world, storedBody, startedAt } = await setting({ policy: { maxAttempts: 1 }, fateOf })
    const task = await world.enqueue({ storedBody })
    await world.clock.advance(200)
    assert.equal(await world.statusOf(task), 'IN_FLIGHT')
    await world.finish(20_000)
    assert.equal(await world.statusOf(task), 'EXHAUSTED')
    assert.ok((await neededUntil(world, storedBody)) >= neededForDeadLetter(startedAt))
  })

  it('is kept, too, where its deadline came behind a gate', async () => {
    const { world, storedBody, startedAt } = await setting()
    const by = { since: startedAt, by: 'operator', reason: 'a test' }
    await world.order('destination', laneKey(LANE), { paused: by })
    await world.clock.advance(1_100)
    await world.enqueue({ storedBody, deadlineAt: world.clock.now() + 5_000 })
    await world.finish(300_000)
    assert.ok((await neededUntil(world, storedBody)) >= neededForDeadLetter(startedAt + 6_000))
  })
})
