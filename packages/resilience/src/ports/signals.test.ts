import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, it } from 'vitest'
import { followSignal, unfollowSignal } from './signals.ts'

function follower(): { heard: unknown[]; onAbort(reason: unknown): void } {
  const heard: unknown[] = []
  return { heard, onAbort: reason => heard.push(reason) }
}

describe('followSignal', () => {
  it('adds one listener for any number of followers, and removes it with the last', () => {
    const { signal } = new AbortController()
    const followers = Array.from({ length: 100 }, follower)
    for (const each of followers) followSignal(signal, each)
    assert.equal(getEventListeners(signal, 'abort').length, 1)
    for (const each of followers) unfollowSignal(signal, each)
    assert.equal(getEventListeners(signal, 'abort').length, 0)
    unfollowSignal(signal, follower())
  })

  it('tells each follower once, with the reason, and nobody who left', () => {
    const controller = new AbortController()
    const [stays, leaves] = [follower(), follower()]
    followSignal(controller.signal, stays)
    followSignal(controller.signal, leaves)
    unfollowSignal(controller.signal, leaves)
    controller.abort('enough')
    assert.deepEqual([stays.heard, leaves.heard], [['enough'], []])
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
  })

  it('lets a follower leave, or another come, while it is being told', () => {
    const controller = new AbortController()
    const later = follower()
    const first = {
      onAbort: () => {
        unfollowSignal(controller.signal, first)
        followSignal(controller.signal, later)
      },
    }
    followSignal(controller.signal, first)
    controller.abort()
    assert.deepEqual(later.heard, [])
    unfollowSignal(controller.signal, later)
  })
})
