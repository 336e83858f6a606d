import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { laneKind } from '@secondwind/resilience/rules'
import {
  destinationFrom,
  destinationOf,
  isTaskId,
  laneKey,
  laneOf,
  partitionOf,
  partitionOfTask,
  PARTITIONS,
  queueKey,
  queueOf,
  standingAt,
  TASK_ID_BYTES,
  taskIdOf,
} from './lane.ts'
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

describe('a destination', () => {
  it('has one name, however its host is spelled', () => {
    for (const [text, name] of [
      ['https://api.example/charge', 'https://api.example'],
      ['https://api.example./charge', 'https://api.example'],
      ['HTTPS://EXAMPLE.com.:443/', 'https://example.com'],
      ['http://EXAMPLE.com.:8080/', 'http://example.com:8080'],
      ['http://127.0.0.1./', 'http://127.0.0.1'],
      ['http://0x7f.1.:81/', 'http://127.0.0.1:81'],
      ['http://[::1]:80/', 'http://[::1]'],
      ['http://münchen.example./', 'http://xn--mnchen-3ya.example'],
    ] as const)
      assert.equal(destinationOf(new URL(text)), name, text)
  })

  it('is the origin of a target whose host has no dot at its end', () => {
    fc.assert(
      fc.property(fc.webUrl({ validSchemes: ['http', 'https'] }), text => {
        const url = new URL(text)
        assert.equal(destinationOf(url), url.origin)
        url.hostname = `${url.hostname}.`
        assert.equal(destinationOf(url), new URL(text).origin)
      }),
    )
  })

  it('is called by its origin alone', () => {
    assert.equal(destinationFrom('https://API.example.'), 'https://api.example')
    assert.equal(destinationFrom('http://10.0.0.1.:8080/'), 'http://10.0.0.1:8080')
    for (const text of [
      'api.example',
      'ftp://api.example',
      'https://api.example/path',
      'https://user@api.example',
      'http://example..',
      'http://./',
      'http://a..b',
      'http://[::1].',
      `http://${'a'.repeat(64)}.example`,
    ])
      assert.equal(destinationFrom(text), undefined, text)
  })
})

const instant = fc.integer({ min: 0, max: 2 ** 48 - 1 })
const partition = fc.nat(PARTITIONS - 1)
const random = fc.uint8Array({ minLength: TASK_ID_BYTES, maxLength: TASK_ID_BYTES })

describe('a task id', () => {
  it('is a UUIDv7 as RFC 9562 lays it out, and ends with its partition', () => {
    const bytes = Uint8Array.of(0xff, 0xff, 0xff, 1, 2, 3, 4, 5, 6)
    assert.equal(taskIdOf(0x0123456789ab, 0xfe, bytes), '01234567-89ab-7fff-bf01-0203040506fe')
    assert.equal(taskIdOf(0, 0, new Uint8Array(TASK_ID_BYTES)), '00000000-0000-7000-8000-000000000000')
  })

  it('is one whatever the moment, the partition and the dice', () => {
    fc.assert(
      fc.property(instant, partition, random, (now, at, bytes) => {
        const taskId = taskIdOf(now, at, bytes)
        assert.ok(isTaskId(taskId), taskId)
        assert.equal(partitionOfTask(taskId), at)
        assert.equal(Number.parseInt(taskId.slice(0, 8) + taskId.slice(9, 13), 16), now)
      }),
    )
  })

  it('sorts by its moment', () => {
    fc.assert(
      fc.property(instant, instant, random, random, (one, other, bytes, otherBytes) => {
        fc.pre(one < other)
        assert.ok(taskIdOf(one, 255, bytes) < taskIdOf(other, 0, otherBytes))
      }),
    )
  })

  it('depends on every one of its random bytes', () => {
    const zeros = new Uint8Array(TASK_ID_BYTES)
    const ids = Array.from(zeros, (_, at) => taskIdOf(0, 0, zeros.with(at, 1)))
    assert.equal(new Set([taskIdOf(0, 0, zeros), ...ids]).size, TASK_ID_BYTES + 1)
  })

  it('is no other UUID, no other spelling, and no other text', () => {
    const others = [
      '',
      '01234567-89ab-4fff-bf01-0203040506fe',
      '01234567-89ab-7fff-cf01-0203040506fe',
      '01234567-89AB-7FFF-BF01-0203040506FE',
      '0123456789ab7fffbf010203040506fe',
      '01234567-89ab-7fff-bf01-0203040506fe\n',
      ' 01234567-89ab-7fff-bf01-0203040506fe',
    ]
    for (const text of others) assert.equal(isTaskId(text), false, JSON.stringify(text))
  })
})
