import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { instant, instantToCome } from './read-instant.ts'

const NOW = Date.UTC(2026, 10, 16, 2, 0, 0)

describe('an instant', () => {
  it('is so long ago or ahead, an ISO instant with its zone, or milliseconds since the epoch', () => {
    const ago = instant(NOW, 'ago')
    assert.deepEqual(ago('2h'), { value: NOW - 7_200_000 })
    assert.deepEqual(instant(NOW, 'ahead')('1d'), { value: NOW + 86_400_000 })
    assert.deepEqual(ago('2026-11-16T02:00:00Z'), { value: NOW })
    assert.deepEqual(ago('2026-11-16T03:30+01:30'), { value: NOW })
    assert.deepEqual(ago('2026-11-16'), { value: NOW - 7_200_000 })
    assert.deepEqual(ago(String(NOW)), { value: NOW })
  })

  it('without a zone is none: it would be another one at another desk', () => {
    for (const given of ['2026-11-16T02:00:00', '16.11.2026', 'yesterday', '', '2026-13-40'])
      assert.ok('must' in instant(NOW, 'ago')(given), given)
  })

  it('that is to come is none of the past, which is told with what the time is', () => {
    const toCome = instantToCome(NOW)
    assert.deepEqual(toCome('2h'), { value: NOW + 7_200_000 })
    for (const given of ['2026-11-16T02:00:00Z', '2026-11-15', String(NOW - 1)])
      assert.deepEqual(toCome(given), { must: 'a time to come: it is 2026-11-16T02:00:00Z now' })
    assert.ok('must' in toCome('soon'))
  })
})
