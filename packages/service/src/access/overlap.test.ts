import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { SigningSecret } from './documents.ts'
import { overlapped } from './overlap.ts'

describe('a rotation', () => {
  it('leaves those of before good for a while, and shortens no promise that was made, nor makes one longer', () => {
    const first = overlapped<SigningSecret>({ secret: 'b' }, [{ secret: 'a' }], 1_000)
    assert.deepEqual(first, [{ secret: 'b' }, { secret: 'a', until: 1_000 }])
    assert.deepEqual(overlapped({ secret: 'c' }, first, 5_000), [
      { secret: 'c' },
      { secret: 'b', until: 5_000 },
      { secret: 'a', until: 1_000 },
    ])
    assert.deepEqual(
      overlapped({ secret: 'c' }, first, 500).at(-1),
      { secret: 'a', until: 500 },
      'a leak is shut at once',
    )
  })

  it('keeps no more than five', () => {
    let all: readonly { n: number; until?: number }[] = [{ n: 0 }]
    for (let n = 1; n < 9; n++) all = overlapped({ n }, all, 1_000)
    assert.deepEqual(
      all.map(({ n }) => n),
      [8, 7, 6, 5, 4],
    )
  })
})
