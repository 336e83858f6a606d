import assert from 'node:assert/strict'
import { it } from 'vitest'
import { createPace } from './pace.ts'

it('a pace gives everybody else a turn once enough was done, and only then', async () => {
  const pace = createPace()
  assert.equal(pace(60_000), undefined)
  let others = 0
  setImmediate(() => others++)
  await pace(10_000)
  assert.equal(others, 1)
  assert.equal(pace(60_000), undefined)
})
