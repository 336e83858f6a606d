import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { readScript } from './script.ts'

describe('the script in a practice path', () => {
  it('repeats a step as often as it says', () => {
    assert.deepEqual(readScript('503x2'), {
      steps: [
        { kind: 'status', status: 503 },
        { kind: 'status', status: 503 },
      ],
    })
  })

  it('takes one step after the other', () => {
    assert.deepEqual(readScript('reset,slow2000,429after3'), {
      steps: [{ kind: 'reset' }, { kind: 'slow', ms: 2_000 }, { kind: 'status', status: 429, retryAfterSeconds: 3 }],
    })
  })

  for (const wrong of ['', '99', '600', '503x', '503x99999', 'slow', 'slow700000', 'later', '503,', '503x1000,200'])
    it(`says what a path must be instead of "${wrong}"`, () => {
      assert.ok('must' in readScript(wrong))
    })
})
