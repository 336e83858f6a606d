import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { setAt } from './set-at.ts'

const DOCUMENT = { name: 'world', clients: [{ count: 1 }, { count: 2 }] }

describe('setting a value in a document', () => {
  it('changes a copy, however deep it is', () => {
    assert.deepEqual(setAt(DOCUMENT, 'clients.1.count', 5), { name: 'world', clients: [{ count: 1 }, { count: 5 }] })
    assert.equal(DOCUMENT.clients[1]!.count, 2)
  })

  it('adds what is not there, with everything on the way to it', () => {
    assert.deepEqual(setAt({}, 'retry.maxAttempts', 3), { retry: { maxAttempts: 3 } })
  })

  it('leads nowhere beyond the end of a list, below a value, or on an empty path', () => {
    for (const path of ['clients.2.count', 'name.first', '', 'clients.', 'clients..count'])
      assert.equal(setAt(DOCUMENT, path, 1), undefined, path)
  })

  it('makes an own field of a name that every object inherits', () => {
    const changed = setAt({}, '__proto__.polluted', true) as object
    assert.deepEqual(Object.keys(changed), ['__proto__'])
    assert.equal(({} as { polluted?: boolean }).polluted, undefined)
  })
})
