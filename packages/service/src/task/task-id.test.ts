import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { PARTITIONS } from './lane.ts'
import { isTaskId, partitionOfTask, TASK_ID_BYTES, taskIdOf } from './task-id.ts'

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
