import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { REPRODUCTIONS } from './index.ts'

/** A few seconds each on an idle machine; ours may be busy. */
const PATIENCE_MS = 120_000

describe('published results that come out here too', () => {
  for (const { name, source, run } of REPRODUCTIONS)
    it(
      `${name}: ${source}`,
      () => {
        const findings = run('quick')
        assert.ok(findings.length > 0)
        assert.deepEqual(
          findings.filter(({ isReproduced }) => !isReproduced),
          [],
        )
      },
      PATIENCE_MS,
    )

  it('have names of their own', () => {
    const names = REPRODUCTIONS.map(({ name }) => name)
    assert.equal(new Set(names).size, names.length)
  })
})
