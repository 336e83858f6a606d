import assert from 'node:assert/strict'
import { describe, it, onTestFinished } from 'vitest'
import { startThread } from './thread.ts'

const SCRIPT = new URL('leaving-thread.test-kit.ts', import.meta.url)

async function start(directory = 'here') {
  const { thread, opened } = await startThread<string, string, string>(SCRIPT, { directory })
  onTestFinished(() => thread.close())
  return { thread, opened }
}

const GONE = { name: 'StoreUnavailableError', code: 'store-unreachable' }

describe('a thread', () => {
  it('says when it is open, and answers in the order of the asks', async () => {
    const { thread, opened } = await start()
    assert.equal(opened, 'opened here')
    assert.deepEqual(await Promise.all(['a', 'b', 'c'].map(ask => thread.ask(ask))), ['a', 'b', 'c'])
  })

  it('that cannot open says why, with its code', async () => {
    await assert.rejects(start('nowhere'), { code: 'store-read-only', message: 'nowhere cannot be written' })
  })

  it('goes on after an ask that fails', async () => {
    const { thread } = await start()
    await assert.rejects(thread.ask('fail'), /no such verb/)
    assert.equal(await thread.ask('a'), 'a')
  })

  it('that leaves is missed by whoever waits and by whoever asks then, and nobody waits for ever', async () => {
    const { thread } = await start()
    const asked = [thread.ask('exit'), thread.ask('a')]
    for (const ask of asked) await assert.rejects(ask, GONE)
    await assert.rejects(thread.ask('b'), /exit code 3.*is not known; start the service again/)
  })

  it('that ends by an error says which', async () => {
    const { thread } = await start()
    await assert.rejects(async () => {
      await thread.ask('throw')
      for (let asks = 0; asks < 100_000; asks++) await thread.ask('a')
    }, /has ended \(a bug\)/)
  })

  it('has left when it is closed', async () => {
    const { thread } = await startThread<string, string, string>(SCRIPT, { directory: 'here' })
    await thread.close()
    await assert.rejects(thread.ask('a'), GONE)
  })
})
