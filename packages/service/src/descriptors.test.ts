import assert from 'node:assert/strict'
import { platform } from 'node:os'
import { describe, it } from 'vitest'
import { connectionsWithin, mostDescriptors, slotsWithin, targetSocketsWithin } from './descriptors.ts'

describe('connections of callers', () => {
  it('leave descriptors for what the service does itself', () => {
    assert.equal(connectionsWithin(1_024, 100), 512)
    assert.equal(connectionsWithin(1_024, 400), 124)
    assert.equal(connectionsWithin(256, 100), 10, 'some, however few there are')
  })

  it('are 10 000 at the most, and 1 000 where the system does not say how many there may be', () => {
    assert.equal(connectionsWithin(1_048_576, 100), 10_000)
    assert.equal(connectionsWithin(undefined, 100), 1_000)
  })

  it.runIf(platform() === 'linux')('are reckoned from the limit of the process', () => {
    assert.ok(mostDescriptors()! >= 64)
    assert.equal(mostDescriptors('/nowhere/at/all'), undefined)
  })
})

describe('requests and listeners', () => {
  it('leave a quarter of the connections, which can be closed for an operator', () => {
    const most = { requests: 1_000, listeners: 500 }
    assert.deepEqual(slotsWithin(10_000, most), most)
    assert.deepEqual(slotsWithin(1_000, most), { requests: 500, listeners: 250 })
    assert.deepEqual(slotsWithin(10, most), { requests: 5, listeners: 2 })
  })
})

describe('sockets to targets', () => {
  it('are one for each request under way, and as many again that are idle', () => {
    assert.equal(targetSocketsWithin(4_096, { concurrency: 100, connections: 2_048 }), 200)
    assert.equal(targetSocketsWithin(undefined, { concurrency: 100, connections: 1_000 }), 200)
  })

  it('are no more than callers, names, bodies and the service itself leave', () => {
    const connections = connectionsWithin(1_024, 400)
    assert.equal(targetSocketsWithin(1_024, { concurrency: 400, connections }), 400)
    assert.equal(targetSocketsWithin(1_024, { concurrency: 100, connections: 700 }), 124)
    assert.equal(targetSocketsWithin(256, { concurrency: 100, connections: 512 }), 1, 'one, however few there are')
  })
})
