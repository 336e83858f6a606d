import fc from 'fast-check'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { virtualClock } from '@secondwind/resilience/testing'
import { openMemoryStore } from '../stores/memory/memory-store.ts'
import { createSeal, sealOf } from './seal.ts'

const KEY = Buffer.alloc(32, 7)

describe('a seal', () => {
  it('opens what it has sealed, for the same purpose and for no other', () => {
    const texts = fc.string({ maxLength: 500 }).map(text => Buffer.from(text).toString('base64url'))
    fc.assert(
      fc.property(texts, fc.string(), fc.string(), (text, purpose, other) => {
        const [seal, again, another] = [createSeal(KEY), createSeal(KEY), createSeal(Buffer.alloc(32, 8))]
        const sealed = seal.seal(text, purpose)
        assert.equal(again.open(sealed, purpose), text)
        assert.equal(another.open(sealed, purpose), undefined)
        if (other !== purpose) assert.equal(seal.open(sealed, other), undefined)
      }),
    )
  })

  it('opens nothing that was changed, or made up', () => {
    const { seal, open } = createSeal(KEY)
    const sealed = seal('place', 'a')
    for (let at = 0; at < sealed.length; at++) {
      const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1)
      assert.equal(open(changed, 'a'), undefined)
    }
    for (const text of ['', 'place', `${sealed}A`, `${sealed}=`, 'A'.repeat(64)])
      assert.equal(open(text, 'a'), undefined)
  })

  it('tells neither a number nor how large it is', () => {
    const { seal, nameOf } = createSeal(KEY)
    const texts = [1, 2, 69, 1_000_000].map(number => JSON.stringify(['tasks', number]))
    assert.equal(new Set(texts.map(text => seal(text, 'a').length)).size, 1)
    const starts = new Set(texts.map(text => seal(text, 'a').slice(0, 4)))
    assert.equal(starts.size, texts.length)
    assert.equal(new Set(texts.map(text => nameOf(text, 'a'))).size, texts.length)
    assert.match(nameOf('1', 'a'), /^[0-9a-f]{16}$/)
  })

  it('is the same for all instances of a store, whoever makes it', async () => {
    const store = openMemoryStore({ clock: virtualClock() })
    const [one, other] = await Promise.all([sealOf(store), sealOf(store)])
    assert.equal(other.open(one.seal('place', 'a'), 'a'), 'place')
    assert.equal((await sealOf(store)).open(one.seal('place', 'a'), 'a'), 'place')
    const stranger = await sealOf(openMemoryStore({ clock: virtualClock() }))
    assert.equal(stranger.open(one.seal('place', 'a'), 'a'), undefined)
  })
})
