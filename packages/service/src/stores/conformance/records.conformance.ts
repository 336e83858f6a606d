import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { InvalidCursorError, type AuditLine, type AuditPage, type WriteRecord } from '../task-store.ts'
import { sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import { TENANT } from './tasks.test-kit.ts'

const CONTROL: WriteRecord = {
  kind: 'control',
  id: 'c1',
  tenant: TENANT,
  document: { level: 'retries-off', until: 5 },
  ifVersion: 0,
}

const LINE: AuditLine = { tenant: TENANT, actor: 'local', action: 'control.create', subject: 'c1' }

export function examineRecords(open: OpenStore): void {
  describe('a record', () => {
    it('is written if it still has the version that was read, and else answers with what it is', async () => {
      const { store, clock } = await sit(open)
      const { kind, id, tenant, document } = CONTROL
      const createdAt = clock.now()
      const first = { kind, id, tenant, document, version: 1, createdAt, changedAt: createdAt }
      assert.deepEqual(await store.writeRecord(CONTROL), { now: createdAt, kind: 'written', record: first })
      await clock.advance(1_000)
      const now = clock.now()
      assert.deepEqual(await store.writeRecord(CONTROL), { now, kind: 'conflict', record: first })
      const second = { ...first, document: { level: 'dispatch-off' }, version: 2, changedAt: now }
      const change = { ...CONTROL, document: second.document }
      assert.deepEqual(await store.writeRecord({ ...change, ifVersion: 1 }), { now, kind: 'written', record: second })
      assert.deepEqual(await store.writeRecord({ ...change, ifVersion: 1 }), { now, kind: 'conflict', record: second })
      assert.deepEqual(await store.record(CONTROL), second)
    })

    it('is removed, and begins with version 1 if it comes again', async () => {
      const { store, clock } = await sit(open)
      const remove = { ...CONTROL, document: null, ifVersion: 1 }
      const now = clock.now()
      assert.deepEqual(await store.writeRecord(remove), { now, kind: 'conflict' })
      await store.writeRecord(CONTROL)
      assert.deepEqual(await store.writeRecord(remove), { now, kind: 'removed' })
      assert.equal(await store.record(CONTROL), undefined)
      const again = await store.writeRecord(CONTROL)
      assert.ok(again.kind === 'written' && again.record.version === 1)
    })

    it('that several write at once is written by one of them', async () => {
      const { store } = await sit(open)
      const answers = await Promise.all([1, 2, 3].map(n => store.writeRecord({ ...CONTROL, document: { n } })))
      assert.deepEqual(answers.map(({ kind }) => kind).toSorted(), ['conflict', 'conflict', 'written'])
    })

    it('keeps no field that is undefined', async () => {
      const { store } = await sit(open)
      const answer = await store.writeRecord({ ...CONTROL, document: { a: undefined, b: [1] } })
      assert.ok(answer.kind === 'written')
      assert.deepEqual(answer.record.document, { b: [1] })
    })

    it('is refused where its tenant has as many of its kind as it may; a change of one is not', async () => {
      const { store } = await sit(open)
      const write = async (change: Partial<WriteRecord>): Promise<string> =>
        (await store.writeRecord({ ...CONTROL, most: 2, ...change })).kind
      assert.deepEqual(
        [
          await write({ id: 'a' }),
          await write({ id: 'b' }),
          await write({ id: 'c' }),
          await write({ id: 'a', ifVersion: 1 }),
          await write({ id: 'c', tenant: 'other' }),
          await write({ id: 'c', kind: 'key' }),
        ],
        ['written', 'written', 'full', 'written', 'written', 'written'],
      )
    })

    it('whose name must be its own is refused where another of its kind and tenant has it', async () => {
      const { store } = await sit(open)
      const write = async (id: string, name: string, change: Partial<WriteRecord> = {}): Promise<string> => {
        const ask: WriteRecord = { ...CONTROL, kind: 'destination', id, document: { name }, isNameUnique: true }
        const answer = await store.writeRecord({ ...ask, ...change })
        return answer.kind === 'taken' ? `taken by ${answer.record.id}` : answer.kind
      }
      assert.deepEqual(
        [
          await write('a', 'payments'),
          await write('a', 'payments', { ifVersion: 1 }),
          await write('b', 'payments'),
          await write('c', 'payments', { tenant: 'other' }),
          await write('d', 'payments', { kind: 'secret' }),
          await write('e', 'orders'),
          await write('e', 'payments', { ifVersion: 1 }),
          await write('f', 'payments', { document: {} }),
        ],
        ['written', 'written', 'taken by a', 'written', 'written', 'written', 'taken by a', 'written'],
      )
    })

    it('of a name that several take at once is written by one of them', async () => {
      const { store } = await sit(open)
      const ask: WriteRecord = { ...CONTROL, kind: 'destination', document: { name: 'payments' }, isNameUnique: true }
      const answers = await Promise.all(['a', 'b', 'c'].map(id => store.writeRecord({ ...ask, id })))
      assert.deepEqual(answers.map(({ kind }) => kind).toSorted(), ['taken', 'taken', 'written'])
    })

    it('is listed by id, of one kind, of one tenant or all', async () => {
      const { store, all } = await sit(open)
      for (const id of ['b', 'a', 'B', 'c']) await store.writeRecord({ ...CONTROL, id })
      await store.writeRecord({ ...CONTROL, id: 'bb', tenant: 'other' })
      await store.writeRecord({ ...CONTROL, id: 'k', kind: 'key' })
      const ids = async (tenant?: string): Promise<string[]> => {
        const ask = { kind: 'control', ...(tenant !== undefined && { tenant }) } as const
        return (await all(page => store.records({ ...ask, ...page }))).map(({ id }) => id)
      }
      assert.deepEqual(await ids(), ['B', 'a', 'b', 'bb', 'c'])
      assert.deepEqual(await ids('other'), ['bb'])
      assert.deepEqual(await ids('nobody'), [])
    })

    it('is heard of at the next beat, unless it is a replay, which changes many times a minute', async () => {
      const { store } = await sit(open)
      const version = async (): Promise<number> => (await store.beat('one')).recordsVersion
      const before = await version()
      assert.equal(await version(), before)
      await store.writeRecord({ ...CONTROL, kind: 'replay' })
      assert.equal(await version(), before)
      await store.writeRecord(CONTROL)
      const written = await version()
      assert.notEqual(written, before)
      await store.writeRecord(CONTROL)
      assert.equal(await version(), written, 'nothing was written')
      await store.writeRecord({ ...CONTROL, document: null, ifVersion: 1 })
      assert.notEqual(await version(), written)
    })

    it('outlives its process, and so does the audit', async context => {
      const setting = await sit(open)
      context.skip(!setting.isDurable, 'nothing outlives its process')
      await setting.store.writeRecord({ ...CONTROL, audit: LINE })
      const record = await setting.store.record(CONTROL)
      const { store, all } = await setting.reopen()
      assert.deepEqual(await store.record(CONTROL), record)
      assert.equal((await all(page => store.auditTrail(page))).length, 1)
    })
  })

  describe('the audit', () => {
    it('has a line for what was done, and none for what was not', async () => {
      const { store, add, all, clock } = await sit(open)
      await store.writeRecord({ ...CONTROL, audit: { ...LINE, reason: 'a storm', details: { lanes: 3 } } })
      await store.writeRecord({ ...CONTROL, audit: LINE })
      const task = await add()
      const line = { ...LINE, action: 'task.cancel', subject: task.taskId }
      await store.attemptNow(task.taskId, { audit: { ...line, action: 'task.attempt-now' } })
      await store.cancel(task.taskId, { audit: line })
      await store.attemptNow(task.taskId, { audit: { ...line, action: 'task.attempt-now' } })
      await store.cancel('unheard-of', { audit: line })
      const entries = await all(page => store.auditTrail(page), 2)
      assert.deepEqual(
        entries,
        [line, { ...line, action: 'task.attempt-now' }, { ...LINE, reason: 'a storm', details: { lanes: 3 } }].map(
          (each, n) => ({ auditId: entries[n]?.auditId, at: clock.now(), ...each }),
        ),
      )
      assert.equal(new Set(entries.map(({ auditId }) => auditId)).size, 3)
    })

    it('is filtered by tenant, actor, action, subject and time', async () => {
      const setting = await sit(open)
      const { store, clock } = setting
      const lines: AuditLine[] = [
        LINE,
        { ...LINE, tenant: 'other' },
        { ...LINE, actor: 'k1' },
        { ...LINE, action: 'key.revoke' },
        { ...LINE, subject: 'c2' },
      ]
      const firstAt = clock.now()
      for (const [n, audit] of lines.entries()) {
        await store.writeRecord({ ...CONTROL, id: `c${n}`, audit })
        await clock.advance(1_000)
      }
      assert.equal(await counted(setting, {}), 5)
      assert.equal(await counted(setting, { tenant: TENANT }), 4)
      for (const one of [{ tenant: 'other' }, { actor: 'k1' }, { action: 'key.revoke' }, { subject: 'c2' }])
        assert.equal(await counted(setting, one), 1)
      assert.equal(await counted(setting, { since: firstAt + 1_000, until: firstAt + 3_000 }), 2)
      assert.equal(await counted(setting, { tenant: 'other', actor: 'k1' }), 0)
    })

    it('is forgotten from its old end on, a bounded number at a time', async () => {
      const setting = await sit(open)
      const { store, clock } = setting
      for (let n = 0; n < 5; n++) await store.writeRecord({ ...CONTROL, id: `c${n}`, audit: LINE })
      await clock.advance(1_000)
      await store.writeRecord({ ...CONTROL, id: 'c5', audit: LINE })
      const sweep = { before: clock.now(), limit: 3 }
      assert.equal((await store.sweepAudit(sweep)).swept, 3)
      assert.equal((await store.sweepAudit(sweep)).swept, 2)
      assert.equal((await store.sweepAudit(sweep)).swept, 0)
      assert.equal(await counted(setting, {}), 1)
    })

    it('refuses a cursor of another list', async () => {
      const { store } = await sit(open)
      for (const id of ['a', 'b']) await store.writeRecord({ ...CONTROL, id, audit: LINE })
      const { nextCursor } = await store.records({ kind: 'control', limit: 1 })
      assert.ok(nextCursor !== undefined)
      await assert.rejects(store.auditTrail({ limit: 1, cursor: nextCursor }), InvalidCursorError)
    })
  })
}

async function counted({ store, all }: Setting, filter: Omit<AuditPage, 'limit'>): Promise<number> {
  return (await all(page => store.auditTrail({ ...filter, ...page }))).length
}
