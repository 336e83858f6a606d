import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retry } from '../dist/index.js'

test('the built package has a retry function', () => {
  assert.equal(typeof retry, 'function')
})
