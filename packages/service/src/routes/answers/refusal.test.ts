import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { sentence } from './refusal.ts'

describe('what somebody else said', () => {
  it('becomes a sentence, with a capital and a stop', () => {
    assert.equal(sentence('the disk is full'), 'The disk is full.')
    assert.equal(sentence('gone.'), 'Gone.')
  })

  it('keeps the name of a file as it is written', () => {
    assert.equal(sentence('tasks.db was moved'), 'tasks.db was moved.')
    assert.equal(sentence('data/tasks.db is gone'), 'data/tasks.db is gone.')
  })
})
