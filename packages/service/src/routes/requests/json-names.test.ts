import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { firstRepeatedName } from './json-names.ts'
import { fieldsIn, namesIn } from './overgrown.ts'

describe('names of a JSON text', () => {
  it('are as many as the fields of what it says, unless one is repeated', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), text => {
        const fields = fieldsIn(JSON.parse(text))
        assert.equal(namesIn(text), fields)
        assert.equal(firstRepeatedName(text), undefined)
      }),
    )
  })

  it('are told from texts, however these are written', () => {
    assert.equal(namesIn('{ "a" :"b:\\"c\\":", "d\\\\": ["e", ":"] }'), 2)
    assert.equal(namesIn('["a", "b"]'), 0)
  })

  it('that stand twice in one object are found, also when they are written in two ways', () => {
    assert.equal(firstRepeatedName('{"a":{"b":1},"b":[{"b":2}],"c":"c"}'), undefined)
    assert.equal(firstRepeatedName('{"a":1,"b":[{"c":1,"\\u0063":2}]}'), 'c')
    assert.equal(firstRepeatedName('{"__proto__":1,"__proto__":2}'), '__proto__')
  })
})
