import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { laneKind } from '@secondwind/resilience/rules'
import { laneKey, laneOf, PARTITIONS, partitionOf, queueKey, queueOf, standingAt } from './lane.ts'
import { RANKS, type Queue } from './task.ts'

/** Compared with what a rule makes, which is an object like any other. */
const PLAIN = { noNullPrototype: true } as const
const word = fc.stringMatching(/^[^\s]{1,20}$/)
const queue: fc.Arbitrary<Queue> = fc.record(
  {
    policyId: fc.string(),
    kind: fc.constantFrom(...laneKind.START_KINDS),
    rank: fc.constantFrom(...RANKS),
  },
  PLAIN,
)

describe('a lane', () => {
  it('is found again by its name, and no two have the same', () => {
    fc.assert(
      fc.property(word, word, (tenant, destination) => {
        assert.deepEqual(laneOf(laneKey({ tenant, destination })), { tenant, destination })
      }),
    )
  })

  it('belongs to the same partition on every machine', () => {
    // FNV-1a of the name, whose published values these are, in its lowest byte.
    assert.deepEqual(['', 'a', 'foobar'].map(partitionOf), [0xc5, 0x2c, 0x68])
  })

  it('is as likely in one partition as in another', () => {
    const counts = Array.from({ length: PARTITIONS }, () => 0)
    for (let n = 0; n < 256_000; n++) counts[partitionOf(`tenant https://host-${n}.example`)]!++
    assert.ok(
      Math.min(...counts) > 850 && Math.max(...counts) < 1_150,
      `${Math.min(...counts)} … ${Math.max(...counts)}`,
    )
  })
})

describe('a queue', () => {
  it('is found again by its name, whatever its policy is called', () => {
    fc.assert(fc.property(queue, given => assert.deepEqual(queueOf(queueKey(given)), given)))
  })
})

describe('the standing of queues', () => {
  it('puts urgent before all, and low ten minutes behind', () => {
    assert.deepEqual(
      RANKS.map(rank => standingAt(rank, 1_000_000)),
      [-Infinity, 1_000_000, 1_600_000],
    )
  })
})
