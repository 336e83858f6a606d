import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'vitest'
import { virtualClock } from '@secondwind/resilience/testing'
import { openMemoryStore } from '../stores/sqlite/sqlite-store.ts'
import { EVERY_TENANT } from '../task/lane.ts'
import { SCOPES, type Scope } from './caller.ts'
import type { KeyDocument } from './documents.ts'
import { hashOf, KeyRing, newKeyText, readKey, writeKey } from './key-ring.ts'

const LINE = { tenant: 'acme', actor: 'local', action: 'key.revoke', subject: 'a key' }

function setting(adminKey?: string) {
  const clock = virtualClock()
  const store = openMemoryStore({ clock })
  const ring = new KeyRing({ store, now: () => clock.now(), ...(adminKey !== undefined && { adminKey }) })
  const add = async (tenant: string, scopes: readonly Scope[], changes: Partial<KeyDocument> = {}) => {
    const text = newKeyText(randomBytes)
    const document = { scopes, createdBy: 'local', hashes: [{ hash: hashOf(text.secret) }], ...changes }
    await store.write([{ kind: 'key', id: text.keyId, tenant, document, ifVersion: 0 }])
    await ring.load()
    return text
  }
  return { clock, store, ring, add }
}

describe('a ring of keys', () => {
  it('has no key back that was revoked while an earlier reading was under way', async () => {
    const { clock, store, add } = setting()
    const { keyId: id, ...text } = await add('acme', ['read'])
    const held: (() => void)[] = []
    const records: typeof store.records = async ask => {
      const page = await store.records(ask)
      if (ask.kind === 'key' && held.length === 0) await new Promise<void>(resolve => held.push(resolve))
      return page
    }
    const ring = new KeyRing({ store: { ...store, records }, now: () => clock.now() })
    const earlier = ring.load()
    while (held.length === 0) await Promise.resolve()
    await store.write([{ kind: 'key', id, tenant: 'acme', document: null, ifVersion: 1 }])
    const later = ring.load()
    held[0]!()
    await Promise.all([earlier, later])
    assert.equal(ring.callerWith(writeKey({ keyId: id, ...text })), undefined)
    assert.equal(ring.isInForce, true)
  })

  it('is in force with its first key, and stays so when that has expired', async () => {
    const { ring, add, clock } = setting()
    await ring.load()
    assert.equal(ring.isInForce, false)
    const text = await add('acme', ['read'], { expiresAt: clock.now() + 1_000 })
    assert.equal(ring.isInForce, true)
    assert.equal(ring.callerWith(writeKey(text))?.tenant, 'acme')
    await clock.advance(1_000)
    assert.equal(ring.callerWith(writeKey(text)), undefined)
    assert.equal(ring.isInForce, true)
  })

  it('knows a key by its secret, and by nothing else', async () => {
    const { ring, add } = setting()
    const text = await add('acme', ['read'])
    const other = await add('other', ['read'])
    const wrong = [
      '',
      'swk_',
      text.secret,
      `swk_${text.keyId}_`,
      writeKey({ ...text, secret: other.secret }),
      writeKey({ ...text, keyId: other.keyId }),
      `${writeKey(text)} `,
      writeKey(text).toUpperCase(),
    ]
    for (const token of wrong) assert.equal(ring.callerWith(token), undefined, token)
    assert.equal(ring.callerWith(writeKey(text))?.actor, text.keyId)
  })

  it('takes the text of before a rotation until the overlap ends', async () => {
    const { ring, add, clock } = setting()
    const before = newKeyText(randomBytes)
    const text = await add('acme', ['read'])
    const old = { keyId: text.keyId, secret: before.secret }
    assert.equal(ring.callerWith(writeKey(old)), undefined)
    const hashes = [{ hash: hashOf(text.secret) }, { hash: hashOf(before.secret), until: clock.now() + 500 }]
    const rotated = await add('acme', ['read'], { hashes })
    const during = { keyId: rotated.keyId, secret: before.secret }
    assert.ok(ring.callerWith(writeKey(during)))
    await clock.advance(500)
    assert.equal(ring.callerWith(writeKey(during)), undefined)
    assert.ok(ring.callerWith(writeKey({ ...during, secret: text.secret })))
  })

  it('gives admin every scope, and others what they were given', async () => {
    const { ring, add } = setting()
    const admin = ring.callerWith(writeKey(await add(EVERY_TENANT, ['admin'])))!
    assert.deepEqual([...admin.scopes], [...SCOPES])
    assert.deepEqual([admin.isOperator, admin.tenant], [true, 'default'])
    const reader = ring.callerWith(writeKey(await add('acme', ['read', 'enqueue'])))!
    assert.deepEqual([...reader.scopes], ['read', 'enqueue'])
    assert.equal(reader.isOperator, false)
  })

  it('takes the key that the service was started with, whatever the store holds', async () => {
    const key = 'x'.repeat(40)
    const { ring } = setting(key)
    await ring.load()
    assert.equal(ring.isInForce, true)
    assert.equal(ring.callerWith(key)?.actor, 'admin')
    assert.equal(ring.callerWith(`${key}x`), undefined)
    assert.equal(ring.hasOtherAdmin('any'), true)
  })

  it('no longer takes a caller for good whose text has ended', async () => {
    const { ring, add, store, clock } = setting()
    const text = await add('acme', ['read'])
    const caller = ring.callerWith(writeKey(text))!
    const hashes = [{ hash: hashOf('new') }, { hash: hashOf(text.secret), until: clock.now() }]
    const document = { scopes: ['read'], createdBy: 'local', hashes }
    await store.write([{ kind: 'key', id: text.keyId, tenant: 'acme', document, ifVersion: 1 }])
    await ring.load()
    assert.equal(ring.isStillGood(caller), false)
  })

  it('stays in force when the last key is gone: the door does not open by itself', async () => {
    const { ring, add, store } = setting()
    const { keyId: id } = await add('acme', ['read'])
    await store.write([{ kind: 'key', id, tenant: 'acme', document: null, ifVersion: 1 }])
    await ring.load()
    assert.equal(ring.isInForce, true)
  })

  it('says of a caller that was let in whether it would be let in now', async () => {
    const { ring, add, store } = setting()
    const text = await add('acme', ['read'])
    await add(EVERY_TENANT, ['admin'])
    const caller = ring.callerWith(writeKey(text))!
    assert.equal(ring.isStillGood(caller), true)
    await store.write([{ kind: 'key', id: text.keyId, tenant: 'acme', document: null, ifVersion: 1 }])
    await ring.load()
    assert.equal(ring.isStillGood(caller), false)
  })
})

describe('a key that is written', () => {
  it('is what it has become before its writer is answered', async () => {
    const { ring, add } = setting()
    const { keyId: id, secret } = await add('acme', ['admin'])
    const token = writeKey({ keyId: id, secret })
    const fresh = { ...newKeyText(randomBytes), keyId: id }
    const rotated = { scopes: ['admin'], createdBy: 'local', hashes: [{ hash: hashOf(fresh.secret) }] }
    const write = async (document: typeof rotated | null, ifVersion: number): Promise<string> =>
      (await ring.write([{ kind: 'key', id, tenant: 'acme', document, ifVersion }], LINE)).kind
    assert.equal(await write(rotated, 7), 'conflict')
    assert.equal(ring.callerWith(token)?.actor, id)
    assert.equal(await write(rotated, 1), 'written')
    assert.equal(ring.callerWith(token), undefined)
    assert.equal(ring.callerWith(writeKey(fresh))?.actor, id)
    assert.equal(await write(null, 2), 'written')
    assert.equal(ring.callerWith(writeKey(fresh)), undefined)
  })

  it('is ended by the next reading that succeeds, if the first one after the write fails', async () => {
    const { clock, store, add } = setting()
    const text = await add('acme', ['read'])
    let isAway = false
    const records: typeof store.records = async ask => {
      if (isAway) throw new Error('away')
      return store.records(ask)
    }
    const ring = new KeyRing({ store: { ...store, records }, now: () => clock.now() })
    await ring.load()
    isAway = true
    const gone = { kind: 'key', id: text.keyId, tenant: 'acme', document: null, ifVersion: 1 } as const
    await assert.rejects(ring.write([gone], LINE), { message: 'away' })
    isAway = false
    await ring.load()
    assert.equal(ring.callerWith(writeKey(text)), undefined)
  })
})

describe('the text of a key', () => {
  it('is read as it was written, and in no other form', () => {
    const text = newKeyText(randomBytes)
    assert.deepEqual(readKey(writeKey(text)), text)
    for (const bad of ['swk_0_1', `SWK_${writeKey(text).slice(4)}`, `${writeKey(text)}=`, writeKey(text).slice(0, -1)])
      assert.equal(readKey(bad), undefined, bad)
  })
})
