import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'vitest'
import { forgetWarnings, type RetryEvent } from '../ports/telemetry.ts'
import { createFetch } from './index.ts'
import { Instances } from './instances.ts'

describe('a fetch created for every call', () => {
  beforeEach(forgetWarnings)

  const warningsAfter = (created: number, calls: (index: number) => number): readonly RetryEvent[] => {
    const events: RetryEvent[] = []
    const instances = new Instances()
    for (let index = 0; index < created; index++) instances.add(event => void events.push(event)).count += calls(index)
    return events
  }

  it('is noticed when twenty in a row were each called once, and said once', () => {
    assert.equal(warningsAfter(20, () => 1).length, 0)
    const [warning, ...others] = warningsAfter(100, () => 1)
    assert.ok(warning?.kind === 'warning' && warning.code === 'policy-per-call')
    assert.match(warning.message, /create it once, outside of the function/)
    assert.deepEqual(others, [])
  })

  it('is noticed by createFetch itself', async () => {
    const warnings: RetryEvent[] = []
    const telemetry = (event: RetryEvent): void => void (event.kind === 'warning' && warnings.push(event))
    const fetch = async (): Promise<Response> => new Response()
    const makeCalls = async (count: number): Promise<void> => {
      for (let call = 0; call < count; call++) await createFetch({}, { fetch, telemetry })('http://a.test')
    }
    await makeCalls(20)
    assert.equal(warnings.length, 0)
    await makeCalls(20)
    assert.equal(warnings.length, 1)
  })

  it('is not suspected where fetches are called more than once, or not yet', () => {
    assert.deepEqual(
      warningsAfter(100, () => 2),
      [],
    )
    assert.deepEqual(
      warningsAfter(100, () => 0),
      [],
    )
    assert.deepEqual(
      warningsAfter(100, index => (index % 20 === 0 ? 2 : 1)),
      [],
    )
  })
})
