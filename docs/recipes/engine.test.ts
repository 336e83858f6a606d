import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
// #region import
import { RetryEngine } from '@secondwind/resilience'
// #endregion
import { instantTime } from './instant-time.ts'

instantTime()

describe('the engine', () => {
  it('retries by name, and can be asked about it', async () => {
    let calls = 0
    const importFile = (): boolean => ++calls === 3
    // #region engine
    const engine = new RetryEngine()
    engine.configure(3, 100, 2, 5_000) // maxRetries, initialDelayMs, backoffMultiplier, maxDelayMs

    const succeeded = await engine.execute('import-42', importFile)
    engine.getStatus('import-42') // 'SUCCEEDED'
    engine.getAttemptCount('import-42') // 3
    // #endregion
    assert.ok(succeeded)
    assert.deepEqual([engine.getStatus('import-42'), engine.getAttemptCount('import-42')], ['SUCCEEDED', 3])
    const [first, second, third] = engine.getRetryTimestamps('import-42') as [number, number, number]
    assert.ok(second - first >= 90 && second - first <= 111)
    assert.ok(third - second >= 180 && third - second <= 221)
  })

  it('answers false, and never throws what the action threw', async () => {
    const engine = new RetryEngine()
    engine.configure(1, 10, 1, 10)
    const fail = (): never => {
      throw new Error('no such file')
    }
    assert.equal(await engine.execute('import-43', fail), false)
    assert.deepEqual([engine.getStatus('import-43'), engine.getLastError('import-43')], ['FAILED', 'no such file'])
  })
})
