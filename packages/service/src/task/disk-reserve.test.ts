import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { lackingOn, leftFor, sayNoRoom, type Purpose } from './disk-reserve.ts'

const MIB = 1_048_576
const GIB = 1_024 * MIB

/** What must be free for anything of this kind to be written. */
const keptFrom = (purpose: Purpose, allBytes: number): number => -leftFor(purpose, { allBytes, freeBytes: 0 })

describe('what is kept free of a disk', () => {
  it('is a twentieth of it, and 256 MiB of a large one', () => {
    assert.equal(keptFrom('bodies', GIB), GIB / 20)
    assert.equal(keptFrom('bodies', 1_000 * GIB), 256 * MIB)
  })

  it('is kept from bodies first, then from tasks, from answers and tenants’ orders, and at last from attempts', () => {
    const purposes = ['bodies', 'tasks', 'answers', 'orders', 'attempts'] as const
    assert.deepEqual(
      purposes.map(purpose => keptFrom(purpose, 1_000 * GIB) / MIB),
      [256, 128, 96, 96, 32],
    )
  })

  it('lacks for whoever would have to leave more than there is, the gravest named', () => {
    const lacking = [257, 255, 127, 95, 31].map(mebibytes =>
      lackingOn({ allBytes: 1_000 * GIB, freeBytes: mebibytes * MIB }),
    )
    assert.deepEqual(lacking, [undefined, 'bodies', 'tasks', 'orders', 'attempts'])
  })

  it('is said with what is refused, for whom it is kept, and what to do', () => {
    assert.equal(
      sayNoRoom('attempts'),
      'the disk is nearly full, and has no room for attempts: what is left is kept for whoever runs the service; make room on it',
    )
  })
})
