import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { type Resters, SocketRoom } from './origin.ts'

/** A room of so many sockets, and origins in it that are known by name. */
function roomOf(most: number) {
  const origins = new Map<string, number[]>()
  const closed: string[] = []
  const resters = (name: string, rests: number[]): Resters => ({
    resting: rests.length,
    get longestRest() {
      return rests[0]!
    },
    closeLongestRest() {
      closed.push(`${name} ${rests.shift()}`)
      room.leave()
    },
  })
  const room = new SocketRoom(most, () => Array.from(origins, ([name, rests]) => resters(name, rests)))
  const open = (name: string): void => {
    if (!origins.has(name)) origins.set(name, [])
    room.take()
  }
  const rest = (name: string): void => room.rest(number => void origins.get(name)!.push(number))
  return { open, rest, closed }
}

describe('room for sockets', () => {
  it('is made by the origin that has most at rest, by its longest', () => {
    const { open, rest, closed } = roomOf(3)
    for (const name of ['few', 'many', 'many']) open(name)
    for (const name of ['few', 'many', 'many']) rest(name)
    open('new')
    assert.deepEqual(closed, ['many 2'])
  })

  it('is made by the longest rest where all have as many', () => {
    const { open, rest, closed } = roomOf(2)
    for (const name of ['one', 'other']) open(name)
    for (const name of ['other', 'one']) rest(name)
    open('new')
    assert.deepEqual(closed, ['other 1'])
  })

  it('is made by nobody who is at work; what is too much then is closed as soon as it rests', () => {
    const { open, rest, closed } = roomOf(1)
    for (const name of ['one', 'other', 'third']) open(name)
    assert.deepEqual(closed, [])
    for (const name of ['one', 'other', 'third']) rest(name)
    assert.deepEqual(closed, ['one 1', 'other 2'])
  })
})
