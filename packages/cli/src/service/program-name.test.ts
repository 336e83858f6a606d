import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { asTypedHere } from './program-name.ts'

describe('a line to type next', () => {
  it('begins with npx where npm has started the program, and with its name elsewhere', () => {
    const line = 'secondwind dev --port 0'
    assert.equal(asTypedHere(line, { npm_lifecycle_event: 'start' }), 'npx secondwind dev --port 0')
    assert.equal(asTypedHere(line, {}), line)
    assert.equal(asTypedHere('chmod 600 secondwind key', { npm_lifecycle_event: 'start' }), 'chmod 600 secondwind key')
  })
})
