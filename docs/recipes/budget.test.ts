import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
// #region import
import { createBudget, retry } from '@secondwind/resilience'
// #endregion
import { DEFAULT_BUDGET, historyOf, type Budget } from '@secondwind/resilience'
import { instantTime } from './instant-time.ts'

instantTime()

const down = async (): Promise<never> => {
  throw Object.assign(new Error('down'), { status: 503 })
}

async function reasonOf(operation: Promise<unknown>): Promise<string> {
  const error = await operation.catch((error: unknown) => error)
  return historyOf(error)!.reason
}

describe('a budget', () => {
  it('is created once and shared by the calls that it should hold together', async () => {
    const readUser = down
    const readOrders = down
    // #region share
    const budget = createBudget({ kind: 'ratio', ratio: 0.1, windowMs: 10_000, minRetries: 3 })

    const user = retry(readUser, {}, { budget })
    const orders = retry(readOrders, {}, { budget })
    // #endregion
    const reasons = await Promise.all([reasonOf(user), reasonOf(orders)])
    assert.deepEqual(reasons.toSorted(), ['attempts', 'budget'])
    assert.equal(budget.balance, 0)
  })

  it('gives a reason of its own when it denies a retry', async () => {
    const budget = createBudget({ kind: 'rate', perSecond: 1, burst: 1 })
    // #region denied
    const error = await retry(down, { maxAttempts: 5 }, { budget }).catch((error: unknown) => error)
    assert.equal(historyOf(error)!.reason, 'budget')
    // #endregion
  })

  it('can be switched off for one call', async () => {
    let calls = 0
    // #region none
    const outcome = retry(
      () => {
        calls++
        return down()
      },
      { maxAttempts: 4 },
      { budget: false },
    )
    // #endregion
    assert.equal(await reasonOf(outcome), 'attempts')
    assert.equal(calls, 4)
  })

  it('can be anything that has its verbs', async () => {
    const counter = { left: 1, take: (): boolean => counter.left-- > 0 }
    // #region own
    const fleetBudget: Budget = {
      deposit: () => {},
      tryWithdraw: () => counter.take(), // a counter that several machines share, read from memory
      get balance() {
        return counter.left
      },
    }
    // #endregion
    assert.equal(await reasonOf(retry(down, { maxAttempts: 5 }, { budget: fleetBudget })), 'budget')
  })

  it('by default denies retries once a hundred were made, and more than one for ten calls, in ten seconds', async () => {
    const budget = createBudget(DEFAULT_BUDGET)
    const reasons = await Promise.all(Array.from({ length: 2_000 }, () => reasonOf(retry(down, {}, { budget }))))
    const denied = reasons.filter(reason => reason === 'budget').length
    assert.ok(denied > 1_800 && denied <= 2_000)
  })
})
