import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { AuditEntry, AuditLine, AuditPage, Store } from '../store.ts'
import { sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import { giveUp, replayOf, TENANT } from './tasks.test-kit.ts'

const LINE: AuditLine = { tenant: TENANT, actor: 'local', action: 'control.create', subject: 'c1' }

/** Any write with a line. */
function noteLine(store: Store, id: string, line: AuditLine = LINE): Promise<unknown> {
  return store.write([{ kind: 'control', id, tenant: TENANT, document: {} }], line)
}

function linesOf({ store, all }: Setting, filter: Omit<AuditPage, 'limit'> = {}): Promise<AuditEntry[]> {
  return all(page => store.audit({ ...filter, ...page }))
}

export function examineAudit(open: OpenStore): void {
  describe('the audit', () => {
    it('has a line for each change that came with one, the newest first', async () => {
      const setting = await sit(open)
      const { store, add, ended, replay, clock } = setting
      const record = { ...LINE, reason: 'a storm', details: { lanes: 3 } }
      await noteLine(store, 'c1', record)
      const task = await add()
      const line = { ...LINE, subject: task.taskId }
      await store.attemptNow(task.taskId, { audit: { ...line, action: 'task.attempt-now' } })
      await store.attemptNow(task.taskId)
      await store.cancel(task.taskId, { audit: { ...line, action: 'task.cancel' } })
      const dead = await ended(giveUp)
      await replay(replayOf(dead, clock.now()), { audit: { ...line, action: 'task.replay' } })
      const entries = await linesOf(setting)
      const expected = [
        { ...line, action: 'task.replay' },
        { ...line, action: 'task.cancel' },
        { ...line, action: 'task.attempt-now' },
        record,
      ]
      assert.deepEqual(entries.map(lineOf), expected)
      for (const { at } of entries) assert.equal(at, clock.now())
    })

    it('has ids that are UUIDs and in the order of the lines, also within a millisecond', async () => {
      const setting = await sit(open)
      for (let n = 0; n < 20; n++) {
        await noteLine(setting.store, `c${n}`, { ...LINE, subject: `c${n}` })
        if (n % 5 === 4) await setting.clock.advance(1)
      }
      const entries = await linesOf(setting)
      const ids = entries.map(({ auditId }) => auditId)
      for (const id of ids) assert.match(id, /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
      assert.deepEqual(ids, ids.toSorted().toReversed())
      assert.deepEqual(
        entries.map(({ subject }) => subject),
        entries.map((_, n) => `c${19 - n}`),
      )
    })

    it('is filtered and forgotten to the millisecond, however many lines it has in one', async () => {
      const setting = await sit(open)
      const { store, sweep, clock } = setting
      const firstAt = clock.now()
      for (let n = 0; n < 30; n++) {
        await noteLine(store, `c${n}`)
        if (n % 10 === 9) await clock.advance(1)
      }
      assert.equal((await linesOf(setting, { since: firstAt + 1, until: firstAt + 2 })).length, 10)
      assert.equal((await linesOf(setting, { until: firstAt + 1 })).length, 10)
      assert.equal(await sweep({ auditBefore: firstAt + 2 }), 20)
      const left = await linesOf(setting)
      assert.deepEqual([left.length, new Set(left.map(({ at }) => at))], [10, new Set([firstAt + 2])])
    })

    it('is filtered by tenant, actor, action, subject and time, and by several at once', async () => {
      const setting = await sit(open)
      const { store, clock } = setting
      const lines = [
        LINE,
        { ...LINE, tenant: 'other' },
        { ...LINE, actor: 'k1' },
        { ...LINE, action: 'key.revoke' },
        { ...LINE, subject: 'c2' },
      ]
      const firstAt = clock.now()
      for (const [n, line] of lines.entries()) {
        await noteLine(store, `c${n}`, line)
        await clock.advance(1_000)
      }
      const cases: [Omit<AuditPage, 'limit'>, AuditLine[]][] = [
        [{}, lines],
        [{ tenant: TENANT }, lines.filter(({ tenant }) => tenant === TENANT)],
        [{ tenant: 'other' }, lines.slice(1, 2)],
        [{ actor: 'k1' }, lines.slice(2, 3)],
        [{ action: 'key.revoke' }, lines.slice(3, 4)],
        [{ subject: 'c2' }, lines.slice(4, 5)],
        [{ since: firstAt + 1_000, until: firstAt + 3_000 }, lines.slice(1, 3)],
        [{ tenant: TENANT, since: firstAt + 1_000, until: firstAt + 3_000 }, lines.slice(2, 3)],
        [{ tenant: 'other', actor: 'k1' }, []],
      ]
      for (const [filter, wanted] of cases) {
        const found = await linesOf(setting, filter)
        assert.deepEqual(found.map(lineOf), wanted.toReversed(), JSON.stringify(filter))
      }
    })

    it('goes on where its page ended, whatever was written meanwhile', async () => {
      const { store, all, firstPage } = await sit(open)
      for (const n of [1, 2, 3, 4]) await noteLine(store, `c${n}`, { ...LINE, subject: `c${n}` })
      const { items, nextCursor } = await firstPage(page => store.audit(page))
      await noteLine(store, 'c5')
      const rest = await all(page => store.audit({ cursor: nextCursor, ...page }))
      const subjects = [...items, ...rest].map(({ subject }) => subject)
      assert.deepEqual(subjects, ['c4', 'c3', 'c2', 'c1'])
    })

    it('is forgotten from its old end on, a bounded number at a time', async () => {
      const setting = await sit(open)
      const { store, clock, sweep } = setting
      for (let n = 0; n < 5; n++) await noteLine(store, `c${n}`)
      await clock.advance(1_000)
      await noteLine(store, 'c5')
      assert.equal(await sweep({ auditBefore: clock.now(), limit: 3 }), 5)
      const [left, ...others] = await linesOf(setting)
      assert.deepEqual([left?.at, others], [clock.now(), []])
    })
  })
}

function lineOf(entry: AuditEntry): AuditLine {
  const { auditId: _, at: __, ...line } = entry
  return line
}
