import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { RetryEngineError } from './engine/errors.ts'
import {
  AttemptTimeoutError,
  DeadlineError,
  InvalidAnswerError,
  InvalidPolicyError,
  RefusedError,
  ResilienceError,
} from './errors.ts'
import { InvalidOptionError, NotReplayableError } from './wire/errors.ts'
import { TestingError } from './testing/errors.ts'

describe('an error of ours', () => {
  const errors: { readonly [name: string]: ResilienceError } = {
    InvalidPolicyError: new InvalidPolicyError([]),
    InvalidAnswerError: new InvalidAnswerError('classify', 'later', 'a fault'),
    AttemptTimeoutError: new AttemptTimeoutError(1, 10),
    DeadlineError: new DeadlineError(2, 10, new Error('before')),
    RefusedError: new RefusedError('budget', 'empty'),
    RetryEngineError: new RetryEngineError('operation-running', 'busy'),
    InvalidOptionError: new InvalidOptionError('the options', []),
    NotReplayableError: new NotReplayableError('the body is a stream'),
    TestingError: new TestingError('leaks', 'left behind'),
  }
  for (const [name, error] of Object.entries(errors))
    it(`says its name in print, written out so that no minifier shortens it: ${name}`, () => {
      assert.equal(error.name, name)
      assert.ok(error.stack?.startsWith(`${name}: `))
      assert.ok(error instanceof ResilienceError && error.code.length > 0)
    })

  it('names as its cause how the call before it failed', () => {
    assert.equal((errors['DeadlineError']!.cause as Error).message, 'before')
    assert.equal('cause' in new DeadlineError(), false)
  })
})
