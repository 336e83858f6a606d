/** The exam that every place for bodies sits. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { VirtualClock } from '@secondwind/resilience/testing'
import { virtualClock } from '@secondwind/resilience/testing'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { everything } from '../stores/conformance/exam.test-kit.ts'
import { BodyTooLargeError, type BodyStore } from './body-store.ts'

export interface OpenedBodies {
  readonly bodies: BodyStore
  /** Makes what was put until now so much older. */
  readonly age: (ms: number) => Promise<void>
}

export type OpenBodies = (clock: VirtualClock) => Promise<OpenedBodies>

const DAY_MS = 86_400_000
const MOST = 1_000_000

export function describeBodyStore(name: string, open: OpenBodies): void {
  const sit = async () => {
    const clock = virtualClock()
    const { bodies, age } = await open(clock)
    const put = (text: string) => bodies.put([Buffer.from(text)], MOST)
    const old = (limit?: number): Promise<string[]> =>
      everything(page => bodies.list({ ...page, putBefore: clock.now() - DAY_MS }), limit)
    return { bodies, age, put, old }
  }

  describe(`bodies in ${name}`, () => {
    it('are read as they were put, and known by size and hash, however they came', async () => {
      const { bodies } = await sit()
      await fc.assert(
        fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 5_000 }), { maxLength: 8 }), async chunks => {
          const whole = Buffer.concat(chunks)
          const { location, bodyRef, sizeBytes } = await bodies.put(inTurn(chunks), MOST)
          assert.equal(bodyRef, `sha256-${createHash('sha256').update(whole).digest('hex')}`)
          assert.equal(sizeBytes, whole.length)
          assert.deepEqual(await wholeAt(bodies, location), whole)
        }),
        { numRuns: 20 },
      )
    })

    it('have each a location of their own, the same bytes too', async () => {
      const { bodies, put } = await sit()
      const [one, other] = await Promise.all([put('same'), put('same')])
      assert.equal(one.bodyRef, other.bodyRef)
      assert.notEqual(one.location, other.location)
      await bodies.remove(one.location)
      assert.deepEqual(await wholeAt(bodies, other.location), Buffer.from('same'))
    })

    it('are refused when they are too large, and leave nothing', async () => {
      const { bodies, age, old } = await sit()
      assert.equal((await bodies.put([Buffer.alloc(600), Buffer.alloc(400)], 1_000)).sizeBytes, 1_000)
      await assert.rejects(bodies.put([Buffer.alloc(600), Buffer.alloc(401)], 1_000), BodyTooLargeError)
      await age(2 * DAY_MS)
      assert.equal((await old()).length, 1)
    })

    it('that break off on their way leave nothing, and say why in their own words', async () => {
      const { bodies, age, old } = await sit()
      const reset = Object.assign(new Error('reset by its sender'), { code: 'ECONNRESET' })
      await assert.rejects(bodies.put(brokenOff(reset), MOST), error => error === reset)
      await age(2 * DAY_MS)
      assert.deepEqual(await old(), [])
    })

    it('that are removed are gone, and removing them again is no problem', async () => {
      const { bodies, put } = await sit()
      const { location } = await put('gone')
      await bodies.remove(location)
      await bodies.remove(location)
      assert.equal(await bodies.read(location), undefined)
    })

    it('are read to their end by whoever has begun, though they are removed meanwhile', async () => {
      const { bodies, put } = await sit()
      const { location } = await put('still here')
      const reading = await bodies.read(location)
      await bodies.remove(location)
      assert.equal((await collected(reading!)).toString(), 'still here')
    })

    it('are never found under a text from outside', async () => {
      const { bodies, put } = await sit()
      await put('mine')
      for (const text of [
        '',
        '.',
        '..',
        '../../../../etc/passwd',
        '/etc/passwd',
        'arriving',
        'ab/../../x',
        '\0',
        'ab\n',
      ])
        assert.equal(await bodies.read(text), undefined, JSON.stringify(text))
      await bodies.remove('..')
      await bodies.remove('')
      assert.ok(await put('all is well'))
    })

    it('are listed when they are old, each once, in pages of any size', async () => {
      const { bodies, age, put, old } = await sit()
      const olds = (await Promise.all(['a', 'b', 'c', 'd', 'e'].map(put))).map(({ location }) => location)
      assert.deepEqual(await old(), [])
      await age(2 * DAY_MS)
      await put('new')
      for (const limit of [1, 2, 5, 100]) assert.deepEqual((await old(limit)).toSorted(), olds.toSorted())
      await bodies.remove(olds[0]!)
      assert.deepEqual((await old()).toSorted(), olds.slice(1).toSorted())
    })
  })
}

async function* inTurn(chunks: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* chunks
}

async function* brokenOff(error: Error): AsyncIterable<Uint8Array> {
  yield Buffer.from('half of it')
  throw error
}

async function wholeAt(bodies: BodyStore, location: string): Promise<Buffer> {
  const reading = await bodies.read(location)
  assert.ok(reading !== undefined, 'nothing is there')
  return collected(reading)
}

async function collected(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return Buffer.concat(all)
}
