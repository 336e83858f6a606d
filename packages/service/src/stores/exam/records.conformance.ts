import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { LARGE_FROM, only, sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import { TENANT } from './tasks.test-kit.ts'
import { RECORD_KINDS, type AuditLine, type RecordKind, type RecordsPage, type RecordWrite } from '../store.ts'

const CONTROL: RecordWrite = {
  kind: 'control',
  id: 'c1',
  tenant: TENANT,
  document: { level: 'retries-off', until: 5 },
  ifVersion: 0,
}

const LINE: AuditLine = { tenant: TENANT, actor: 'local', action: 'control.create', subject: 'c1' }

export function examineRecords(open: OpenStore): void {
  describe('a record', () => {
    it('is written if it still has the version that was read; else the answer is what it is now', async () => {
      const { store, clock } = await sit(open)
      const { kind, id, tenant, document } = CONTROL
      const createdAt = clock.now()
      const first = { kind, id, tenant, document, version: 1, createdAt, changedAt: createdAt }
      assert.deepEqual(await store.write([CONTROL]), { now: createdAt, kind: 'written', records: [first] })
      await clock.advance(1_000)
      const now = clock.now()
      const name = { kind, id }
      assert.deepEqual(await store.write([CONTROL]), { now, kind: 'conflict', name, record: first })
      const second = { ...first, document: { level: 'dispatch-off' }, version: 2, changedAt: now }
      const change = { ...CONTROL, document: second.document, ifVersion: 1 }
      assert.deepEqual(await store.write([change]), { now, kind: 'written', records: [second] })
      assert.deepEqual(await store.write([change]), { now, kind: 'conflict', name, record: second })
      assert.deepEqual(await store.record(name), second)
    })

    it('is written whatever its version is if none was named', async () => {
      const { store } = await sit(open)
      const { ifVersion: _, ...write } = CONTROL
      for (const version of [1, 2]) {
        const answer = await store.write([write])
        assert.ok(answer.kind === 'written')
        assert.equal(only(answer.records).version, version)
      }
    })

    it('is removed, and begins with version 1 if it comes again', async () => {
      const { store, clock } = await sit(open)
      const { kind, id } = CONTROL
      const remove = { ...CONTROL, document: null, ifVersion: 1 }
      const now = clock.now()
      assert.deepEqual(await store.write([remove]), { now, kind: 'conflict', name: { kind, id } })
      await store.write([CONTROL])
      await store.write([{ ...CONTROL, ifVersion: 1 }])
      assert.deepEqual(await store.write([{ ...remove, ifVersion: 2 }]), { now, kind: 'written', records: [] })
      assert.equal(await store.record({ kind, id }), undefined)
      const again = await store.write([CONTROL])
      assert.ok(again.kind === 'written')
      assert.equal(only(again.records).version, 1)
    })

    it('that several write at once is written by one of them', async () => {
      const { store } = await sit(open)
      const answers = await Promise.all([1, 2, 3].map(n => store.write([{ ...CONTROL, document: { n } }])))
      assert.deepEqual(answers.map(({ kind }) => kind).toSorted(), ['conflict', 'conflict', 'written'])
    })

    it('keeps no field that is undefined', async () => {
      const { store } = await sit(open)
      const answer = await store.write([{ ...CONTROL, document: { a: undefined, b: [1, { c: 'ü' }] } }])
      assert.ok(answer.kind === 'written')
      assert.deepEqual(only(answer.records).document, { b: [1, { c: 'ü' }] })
    })

    it('is one of its kind: the same id of another kind is another record', async () => {
      const { store } = await sit(open)
      for (const kind of RECORD_KINDS) assert.equal((await store.write([{ ...CONTROL, kind }])).kind, 'written')
      for (const kind of RECORD_KINDS) assert.equal((await store.record({ kind, id: CONTROL.id }))?.kind, kind)
    })
  })

  describe('several records', () => {
    const NAME = { ...CONTROL, kind: 'name', id: 'payments' } as const

    it('are written together, and answered in their order without those that were removed', async () => {
      const { store } = await sit(open)
      await store.write([{ ...CONTROL, id: 'old' }])
      const answer = await store.write([NAME, { ...CONTROL, id: 'old', document: null, ifVersion: 1 }, CONTROL])
      assert.ok(answer.kind === 'written')
      assert.deepEqual(
        answer.records.map(({ kind, id }) => [kind, id]),
        [
          ['name', 'payments'],
          ['control', 'c1'],
        ],
      )
    })

    it('are written all or not at all; the answer names the first that has another version', async () => {
      const { store, all } = await sit(open)
      await store.write([NAME])
      const others = [
        { ...CONTROL, id: 'fine' },
        { ...NAME, document: { owner: 'b' } },
        { ...CONTROL, ifVersion: 7 },
      ]
      const answer = await store.write(others, LINE)
      assert.ok(answer.kind === 'conflict')
      assert.deepEqual(answer.name, { kind: 'name', id: 'payments' })
      assert.deepEqual(answer.record, await store.record(NAME))
      assert.deepEqual(await all(page => store.records({ ...page, kind: 'control' })), [])
      assert.deepEqual(await all(page => store.audit(page)), [])
    })

    it('that share a name are written by one of several that come at once', async () => {
      const { store, all } = await sit(open)
      const writes = ['a', 'b', 'c'].map(id => store.write([NAME, { ...CONTROL, id }]))
      const kinds = (await Promise.all(writes)).map(({ kind }) => kind)
      assert.deepEqual(kinds.toSorted(), ['conflict', 'conflict', 'written'])
      assert.equal((await all(page => store.records({ ...page, kind: 'control' }))).length, 1)
    })
  })

  describe('a list of records', () => {
    const idsIn = async ({ store, all }: Setting, ask: Partial<RecordsPage>): Promise<string[]> =>
      (await all(page => store.records({ kind: 'control', ...ask, ...page }))).map(({ id }) => id)

    it('is in order of ids, of one kind, of one tenant or all', async () => {
      const setting = await sit(open)
      const { store } = setting
      for (const id of ['b', 'a', 'B', 'c']) await store.write([{ ...CONTROL, id }])
      await store.write([{ ...CONTROL, id: 'bb', tenant: 'other' }])
      await store.write([{ ...CONTROL, id: 'k', kind: 'key' }])
      assert.deepEqual(await idsIn(setting, {}), ['B', 'a', 'b', 'bb', 'c'])
      assert.deepEqual(await idsIn(setting, { order: 'newest-first' }), ['c', 'bb', 'b', 'a', 'B'])
      assert.deepEqual(await idsIn(setting, { tenant: 'other' }), ['bb'])
      assert.deepEqual(await idsIn(setting, { tenant: TENANT, order: 'newest-first' }), ['c', 'b', 'a', 'B'])
      assert.deepEqual(await idsIn(setting, { tenant: 'nobody' }), [])
    })

    it('has those whose id begins with a prefix if asked', async () => {
      const setting = await sit(open)
      const { store } = setting
      for (const id of ['pay', 'pay 1', 'pay 10', 'pay 2', 'pay2', 'PAY 3', 'pax'])
        await store.write([{ ...CONTROL, id, tenant: id === 'pay 10' ? 'other' : TENANT }])
      assert.deepEqual(await idsIn(setting, { prefix: 'pay ' }), ['pay 1', 'pay 10', 'pay 2'])
      assert.deepEqual(await idsIn(setting, { prefix: 'pay ', order: 'newest-first' }), ['pay 2', 'pay 10', 'pay 1'])
      assert.deepEqual(await idsIn(setting, { prefix: 'pay ', tenant: TENANT }), ['pay 1', 'pay 2'])
      assert.deepEqual(await idsIn(setting, { prefix: 'z' }), [])
    })

    it('has nothing outside its prefix, whatever place its cursor names', async () => {
      const { store } = await sit(open)
      for (const id of ['pax 1', 'pax 2', 'pay 1', 'pay 2', 'paz 1', 'paz 2']) await store.write([{ ...CONTROL, id }])
      for (const order of [{}, { order: 'newest-first' }] as const)
        for (const foreign of ['pax ', 'paz ']) {
          const ask = { kind: 'control', ...order, limit: 1 } as const
          const { nextCursor } = await store.records({ ...ask, prefix: foreign })
          const { items } = await store.records({ ...ask, prefix: 'pay ', cursor: nextCursor!, limit: 10 })
          for (const { id } of items) assert.ok(id.startsWith('pay '), `${id} behind a place of ${foreign}`)
        }
    })

    it('goes on where its page ended, whatever came or went meanwhile', async () => {
      const { store, all, firstPage } = await sit(open)
      for (const id of ['a', 'b', 'c', 'e']) await store.write([{ ...CONTROL, id }])
      const { items, nextCursor } = await firstPage(page => store.records({ kind: 'control', ...page }))
      const last = items.at(-1)
      assert.ok(last !== undefined)
      await store.write([{ ...CONTROL, id: last.id, document: null, ifVersion: 1 }])
      await store.write([{ ...CONTROL, id: 'd' }])
      const rest = await all(page => store.records({ kind: 'control', cursor: nextCursor, ...page }))
      const ids = [...items, ...rest].map(({ id }) => id)
      assert.deepEqual(ids, ['a', 'b', 'c', 'd', 'e'])
    })
  })

  describe('the version of all records', () => {
    it('changes with each record that attempts or requests depend on, and with no other', async () => {
      const { store } = await sit(open)
      const version = async () => (await store.beat({ instance: 'one', largeFrom: LARGE_FROM })).recordsVersion
      const readAtBeats: RecordKind[] = []
      for (const kind of RECORD_KINDS) {
        const before = await version()
        assert.equal(await version(), before)
        await store.write([{ ...CONTROL, kind }])
        if ((await version()) !== before) readAtBeats.push(kind)
      }
      assert.deepEqual(readAtBeats, ['tenant', 'key', 'secret', 'destination', 'control'])
      const written = await version()
      await store.write([CONTROL])
      assert.equal(await version(), written, 'nothing was written')
      await store.write([{ ...CONTROL, document: null, ifVersion: 1 }])
      assert.notEqual(await version(), written)
    })
  })
}
