import type { AuditEntry, Page } from '@secondwind/client'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { guarded } from './guarded.test-kit.ts'

/** Two lines of acme, and so many of another tenant around them. */
async function acmeBeside(linesOfOthers: number): Promise<{ readonly pages: readonly Page<AuditEntry>[] }> {
  const { as, addTenant, keyFor, store } = await guarded()
  await addTenant('acme')
  const key = await keyFor('acme', 'admin')
  const line = { tenant: 'beta', actor: 'a key', action: 'policy.put', subject: 'payments' }
  const pages: Page<AuditEntry>[] = []
  for (const policyId of ['one', 'two']) {
    for (let n = 0; n < linesOfOthers; n++) await store.write([], line)
    assert.equal((await as('POST', '/retry-policies', { key, body: { policyId } })).status, 201)
  }
  let path = '/audit?limit=1'
  for (let n = 0; n < 2; n++) {
    const { json } = await as('GET', path, { key })
    pages.push(json as Page<AuditEntry>)
    path = `/audit?limit=1&cursor=${pages.at(-1)!.nextCursor}`
  }
  return { pages }
}

/** The instant in a UUIDv7. */
function instantOf(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
}

describe('the audit of a tenant', () => {
  it('has the newest line first, and ids in the order of the lines', async () => {
    const { pages } = await acmeBeside(0)
    const lines = pages.flatMap(({ items }) => items)
    assert.deepEqual(
      lines.map(({ subject }) => subject),
      ['two', 'one'],
    )
    assert.ok(lines[0]!.auditId > lines[1]!.auditId)
  })

  it('counts nothing of other tenants: its ids and cursors hold instants and chance only', async () => {
    for (const linesOfOthers of [0, 30]) {
      const { pages } = await acmeBeside(linesOfOthers)
      for (const { items, nextCursor } of pages) {
        const [{ auditId, at }] = items as [AuditEntry]
        assert.match(auditId, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
        assert.equal(instantOf(auditId), at, `beside ${linesOfOthers} lines of others`)
        assert.equal(auditId.slice(14, 23), '7000-8000', 'nothing else is counted')
        // Eight characters are the mark of the question.
        const place: unknown = JSON.parse(Buffer.from(nextCursor!.slice(8), 'base64url').toString())
        assert.deepEqual(place, ['audit', auditId])
      }
    }
  })
})
