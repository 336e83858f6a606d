import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, it } from 'vitest'
import { MadeBody, unlessAborted } from './body.ts'

const enough = new Error('enough')

describe('a body that is made for each attempt', () => {
  it('is not sent when its attempt was aborted while it was being made, and its stream is ended', async () => {
    let cancelledBy: unknown
    const web = new ReadableStream({ cancel: () => void (cancelledBy = 'cancel') })
    const node = new Readable({ read: () => {} })
    for (const stream of [web, node]) {
      const attempt = new AbortController()
      const body = new MadeBody(() => {
        attempt.abort(enough)
        return stream
      })
      await assert.rejects(async () => body.next(attempt.signal), enough)
    }
    await Promise.resolve()
    assert.deepEqual([cancelledBy, node.destroyed], ['cancel', true])
  })

  it('that arrives after its attempt was aborted is ended, even if it resists', async () => {
    const attempt = new AbortController()
    let ended = 0
    const resisting = Object.assign(Readable.from([]), {
      destroy: () => {
        ended++
        throw new Error('no')
      },
    })
    let arrive: (body: unknown) => void = () => {}
    const promise = new Promise<unknown>(resolve => (arrive = resolve))
    const body = new MadeBody(() => promise)
    const next = body.next(attempt.signal)
    attempt.abort(enough)
    await assert.rejects(next, enough)
    arrive(resisting)
    await new Promise(resolve => setImmediate(resolve))
    assert.equal(ended, 1)
  })
})

describe('unlessAborted', () => {
  it('rejects with the reason of a signal that has aborted already, or does so later', async () => {
    const never = new Promise(() => {})
    await assert.rejects(unlessAborted(never, AbortSignal.abort(enough)), enough)
    const attempt = new AbortController()
    const result = unlessAborted(never, attempt.signal)
    attempt.abort(enough)
    await assert.rejects(result, enough)
  })
})
