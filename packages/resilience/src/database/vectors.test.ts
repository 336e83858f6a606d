import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'vitest'
import { classifyDatabaseError } from './classify.ts'

describe('vectors/database.json', () => {
  interface Case {
    readonly name: string
    readonly source?: string
    readonly error: unknown
    readonly says: keyof typeof FAILURES
  }
  const FAILURES = {
    undone: { kind: 'failure', fault: 'transient', unsent: true },
    lost: { kind: 'failure', fault: 'ambiguous' },
    unknown: undefined,
  } as const
  const url = new URL('../../../../vectors/database.json', import.meta.url)
  const { about: _, errors, ...rest } = JSON.parse(readFileSync(url, 'utf8')) as { about: string; errors: Case[] }

  it('has no field that nobody reads', () => {
    assert.deepEqual(rest, {})
  })

  for (const { name, source: _, error, says, ...rest } of errors)
    it(name, () => {
      assert.deepEqual(rest, {})
      assert.ok(Object.hasOwn(FAILURES, says))
      assert.deepEqual(classifyDatabaseError(error), FAILURES[says])
    })
})
