import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { askForRoom, leaveRoom, newRoom, nextPlace, type Place } from './room.ts'

/** Bodies by name, `tenant/lane`: who was given room, in order. */
function sharing(mostBytes: number) {
  const room = newRoom(mostBytes)
  const given: Place[] = []
  const fill = (): string[] => {
    const names: string[] = []
    for (let place = nextPlace(room); place !== undefined; place = nextPlace(room)) {
      given.push(place)
      names.push(nameOf(place))
    }
    return names
  }
  const ask = (name: string, bytes: number): Place => askForRoom(room, laneNamed(name), bytes)
  const leave = (place: Place): string[] => {
    given.splice(given.indexOf(place), 1)
    leaveRoom(room, place)
    return fill()
  }
  return { room, given, ask, fill, leave }
}

function laneNamed(name: string) {
  const [tenant, destination] = name.split('/') as [string, string]
  return { tenant, destination }
}

function nameOf({ line }: Place): string {
  return line.key.replace(' ', '/')
}

const bytesOf = (places: readonly Place[]): number => places.reduce((sum, { bytes }) => sum + bytes, 0)

describe('room for large bodies', () => {
  it('goes to the tenant with the fewest bytes, then to its lane with the fewest, whoever came first', () => {
    const { ask, fill } = sharing(1_000)
    for (const name of ['a/1', 'a/1', 'a/1', 'a/2', 'b/1', 'b/1']) ask(name, 10)
    assert.deepEqual(fill(), ['a/1', 'b/1', 'a/2', 'b/1', 'a/1', 'a/1'])
  })

  it('counts bytes, not bodies', () => {
    const { ask, fill } = sharing(1_000)
    ask('a/1', 50)
    ask('a/1', 50)
    for (let n = 0; n < 5; n++) ask('b/1', 10)
    assert.deepEqual(fill(), ['a/1', 'b/1', 'b/1', 'b/1', 'b/1', 'b/1', 'a/1'])
  })

  it('is mostly for who is there alone, and some of it for who may come', () => {
    for (const [lanes, most] of [
      [1, 81],
      [50, 90],
    ] as const) {
      const { ask, fill, given } = sharing(100)
      for (let n = 0; n < 200; n++) ask(`a/${n % lanes}`, 1)
      fill()
      assert.equal(given.length, most)
      ask('b/1', 9)
      assert.deepEqual(fill(), ['b/1'])
    }
  })

  it('is there for one alone, however large it is', () => {
    const { ask, fill, leave } = sharing(100)
    const [small] = [ask('a/1', 1)]
    ask('b/1', 1_000)
    assert.deepEqual(fill(), ['a/1'])
    assert.deepEqual(leave(small), ['b/1'])
  })

  it('lets pass what fits beside the one that waits, and no more', () => {
    const { ask, fill, leave } = sharing(100)
    const old = ask('a/1', 80)
    fill()
    ask('b/1', 40)
    for (let n = 0; n < 40; n++) ask(`c/${n}`, 2)
    const passed = fill()
    assert.ok(passed.length > 0 && passed.every(name => name.startsWith('c/')))
    assert.equal(leave(old)[0], 'b/1')
  })
})

const TENANTS = 4
const anyAsks = fc.array(
  fc.record({
    name: fc.tuple(fc.nat(TENANTS - 1), fc.nat(2)).map(([tenant, lane]) => `${tenant}/${lane}`),
    bytes: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 1, max: 30 }) }, fc.integer({ min: 1, max: 150 })),
    /** Whether somebody leaves first, and who. */
    leaves: fc.option(fc.nat()),
  }),
  { maxLength: 120 },
)

describe('room for large bodies, whatever comes', () => {
  it('is never overfilled but by one alone, and is counted right', () => {
    fc.assert(
      fc.property(anyAsks, asks => {
        const { room, given, ask, fill, leave } = sharing(100)
        for (const { name, bytes, leaves } of asks) {
          if (leaves !== null && given.length > 0) leave(given[leaves % given.length]!)
          ask(name, bytes)
          fill()
          const held = bytesOf(given)
          assert.ok(held <= 100 || given.length === 1)
          assert.equal(room.shares.taken, held)
          for (const place of given) {
            const { share } = place.line
            const of = (isSame: (other: Place) => boolean): number => bytesOf(given.filter(isSame))
            assert.equal(
              share.taken,
              of(other => other.line === place.line),
            )
            assert.equal(
              share.tenant.taken,
              of(other => other.line.share.tenant === share.tenant),
            )
          }
        }
        for (const place of given.slice()) leave(place)
        while (given.length > 0) leave(given[0]!)
        assert.deepEqual([room.lines.size, room.held.size, room.shares.tenants.size], [0, 0, 0])
      }),
    )
  })

  it('lets the one whose turn it is wait for those who were there before it came, however many come after', () => {
    const anySizes = fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 20 })
    fc.assert(
      fc.property(anySizes, fc.integer({ min: 1, max: 81 }), anySizes, (sizes, large, later) => {
        const { given, ask, fill, leave } = sharing(100)
        for (const [at, bytes] of sizes.entries()) {
          // Nobody else waits.
          if (bytesOf(given) + bytes > 50) break
          ask(`${at}/1`, bytes)
          fill()
        }
        const before = given.slice()
        const newcomer = ask('newcomer/1', large)
        for (const [at, bytes] of later.entries()) ask(`later-${at}/1`, bytes)
        fill()
        for (const place of before) leave(place)
        assert.ok(given.includes(newcomer), 'though of those who came later nobody has left')
      }),
    )
  })

  it('starves nobody: if none is held for ever, everybody is served, however many come after', () => {
    fc.assert(
      fc.property(anyAsks, fc.integer({ min: 1, max: 150 }), fc.integer({ min: 1, max: 30 }), (asks, large, small) => {
        const { given, ask, fill, leave } = sharing(100)
        for (const { name, bytes } of asks) ask(name, bytes)
        const last = ask('0/0', large)
        fill()
        let rounds = 0
        for (; !given.includes(last) && rounds < 1_000; rounds++) {
          ask(`${rounds % 3}/later`, small)
          ask(`later-${rounds % 20}/1`, small)
          leave(given[0]!)
        }
        assert.ok(given.includes(last), `not in ${rounds} rounds`)
      }),
    )
  })
})
