/** The exam that every place for bodies sits. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { VirtualClock } from '@secondwind/resilience/testing'
import { virtualClock } from '@secondwind/resilience/testing'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { locationsIn } from './bodies.test-kit.ts'
import { BodyTooLargeError, type BodyStore, type ByteChunks } from './body-store.ts'
import { nameAt } from './location.ts'

export interface OpenedBodies {
  readonly bodies: BodyStore
  /** Makes all bodies so much older. */
  readonly age: (ms: number) => Promise<void>
}

export type OpenBodies = (clock: VirtualClock) => Promise<OpenedBodies>

const DAY_MS = 86_400_000
const MOST = 1_000_000
const TENANT = 'acme'

export function describeBodyStore(name: string, open: OpenBodies): void {
  const sit = async () => {
    const clock = virtualClock()
    const { bodies, age } = await open(clock)
    const putBytes = (bytes: ByteChunks, mostBytes = MOST) => bodies.put({ tenant: TENANT, bytes, mostBytes })
    const put = (text: string, tenant = TENANT) => bodies.put({ tenant, bytes: [Buffer.from(text)], mostBytes: MOST })
    const old = (): Promise<string[]> => locationsIn(bodies, clock.now() - DAY_MS)
    return { bodies, age, putBytes, put, old }
  }

  describe(`bodies in ${name}`, () => {
    it('are read as they were put, and known by size and hash, however they came', async () => {
      const { bodies, putBytes } = await sit()
      await fc.assert(
        fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 5_000 }), { maxLength: 8 }), async chunks => {
          const whole = Buffer.concat(chunks)
          const { location, bodyRef, sizeBytes } = await putBytes(inTurn(chunks))
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
      const { putBytes, age, old } = await sit()
      assert.equal((await putBytes([Buffer.alloc(600), Buffer.alloc(400)], 1_000)).sizeBytes, 1_000)
      await assert.rejects(putBytes([Buffer.alloc(600), Buffer.alloc(401)], 1_000), BodyTooLargeError)
      await age(2 * DAY_MS)
      assert.equal((await old()).length, 1)
    })

    it('that break off on their way leave nothing, and say why in their own words', async () => {
      const { putBytes, age, old } = await sit()
      const reset = Object.assign(new Error('reset by its sender'), { code: 'ECONNRESET' })
      await assert.rejects(putBytes(brokenOff(reset)), error => error === reset)
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

    it('are read to their end once a reader has begun, though they are removed meanwhile', async () => {
      const { bodies, put } = await sit()
      const { location } = await put('still here')
      const reading = await bodies.read(location)
      await bodies.remove(location)
      assert.equal((await collected(reading!)).toString(), 'still here')
    })

    it('lie each in the name of its tenant, the same bytes too', async () => {
      const { bodies, put } = await sit()
      const [one, other] = await Promise.all([put('same'), put('same', 'other')])
      assert.deepEqual(nameAt(one.location), { tenant: TENANT, bodyRef: one.bodyRef })
      assert.deepEqual(nameAt(other.location), { tenant: 'other', bodyRef: one.bodyRef })
      await bodies.remove(one.location)
      assert.deepEqual(await wholeAt(bodies, other.location), Buffer.from('same'))
    })

    it('are put for tenants alone: any other word is refused, and leaves nothing', async () => {
      const { put, age, old } = await sit()
      for (const word of ['', '.', '..', '../other', 'a/b', '/etc', '_arriving', '*', 'Acme', 'acme\n', 'a'.repeat(64)])
        await assert.rejects(put('x', word), { name: 'AssertionError' }, JSON.stringify(word))
      await age(2 * DAY_MS)
      assert.deepEqual(await old(), [])
    })

    it('are never found under a text from outside', async () => {
      const { bodies, put } = await sit()
      const { location, bodyRef } = await put('mine')
      const random = location.slice(location.indexOf('.') + 1)
      const nowhere = ['', '.', '..', '../../../../etc/passwd', '/etc/passwd', '_arriving', 'acme', 'acme/', '\0']
      const elsewhere = [`acme/../${location}`, `./${location}`, `/${location}`, `${location}/`, `${location}\n`]
      const others = [
        `_arriving/${random}`,
        `acme/${bodyRef}`,
        `acme/${bodyRef.toUpperCase()}.${random}`,
        `other/${bodyRef}.${random}`,
      ]
      for (const text of [...nowhere, ...elsewhere, ...others]) {
        await bodies.remove(text)
        assert.equal(await bodies.read(text), undefined, JSON.stringify(text))
      }
      assert.deepEqual(await wholeAt(bodies, location), Buffer.from('mine'))
    })

    it('are listed when they are old, of every tenant, each once', async () => {
      const { bodies, age, put, old } = await sit()
      const tenants = ['acme', 'other', 'acme', 'third', 'other']
      const put5 = await Promise.all(tenants.map((tenant, at) => put(String(at % 2), tenant)))
      const olds = put5.map(({ location }) => location)
      assert.deepEqual(await old(), [])
      await age(2 * DAY_MS)
      await put('new')
      assert.deepEqual(await old(), olds.toSorted())
      await bodies.remove(olds[0]!)
      assert.deepEqual(await old(), olds.slice(1).toSorted())
    })

    it('may be removed while they are listed, so that a sweep ends', async () => {
      const { bodies, age, put, old } = await sit()
      for (let n = 0; n < 100; n++) await put(String(n), n % 2 === 0 ? 'even' : 'odd')
      await age(2 * DAY_MS)
      let listed = 0
      for (let left = await old(); left.length > 0; left = await old())
        for await (const location of bodies.putBefore(Number.MAX_SAFE_INTEGER)) {
          await bodies.remove(location)
          listed++
        }
      assert.equal(listed, 100)
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
