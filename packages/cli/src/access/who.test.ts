import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { naming } from './who.ts'

const KEY = '0123456789abcdef'
const OTHER = 'fedcba9876543210'

describe('an actor', () => {
  it('is called by the name of its key, and by its id where that has none', () => {
    const nameOf = naming([{ keyId: KEY, name: 'night-shift' }, { keyId: OTHER }])
    assert.deepEqual([KEY, OTHER, 'local', 'system'].map(nameOf), ['night-shift', OTHER, 'local', 'system'])
  })

  it('never passes for another one: not by a name that several have, nor by one that is no name', () => {
    for (const name of ['local', 'system', OTHER]) assert.equal(naming([{ keyId: KEY, name }])(KEY), KEY)
    const twins = naming([
      { keyId: KEY, name: 'checkout' },
      { keyId: OTHER, name: 'checkout' },
    ])
    assert.deepEqual([KEY, OTHER].map(twins), [KEY, OTHER])
  })
})
