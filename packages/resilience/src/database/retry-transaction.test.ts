import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { permanent } from '../classify/marks.ts'
import { AttemptTimeoutError } from '../errors.ts'
import { historyOf } from '../retry/history.ts'
import { outcomeOf, scripted, STEADY } from '../retry/scripted.test-kit.ts'
import { expectNoLeaks } from '../testing/index.ts'
import { coded, scriptedDatabase, type ScriptedTransaction } from './database.test-kit.ts'
import { retryTransaction, type TransactionOptions } from './retry-transaction.ts'

const update = (transaction: ScriptedTransaction): Promise<string> => transaction.query('update')
const DEADLOCK = coded('40P01')
const LOST = coded('ECONNRESET')

/** Both shapes of `begin` keep the same promises; what is given back is the driver's own affair in the second. */
for (const shape of ['begin', 'run'] as const)
  describe(`retryTransaction, with ${shape === 'begin' ? 'a handle' : "a driver's own transaction(callback)"}`, () => {
    async function play(
      failures: Parameters<typeof scriptedDatabase>[0],
      work = update,
      options: TransactionOptions<string> = {},
    ): Promise<{ log: string; value?: string; error?: unknown; reason?: string | undefined }> {
      const { clock, ports } = scripted()
      const database = scriptedDatabase(failures)
      const settings = { ports, ...options }
      const ended = await outcomeOf(
        clock,
        shape === 'begin'
          ? retryTransaction(database.begin, work, STEADY, settings)
          : retryTransaction(database.run, work, STEADY, settings),
      )
      const log = database.log.filter(said => said !== 'release' && said !== 'destroy').join(' ')
      return { ...ended, log, reason: historyOf(ended.error)?.reason }
    }

    it('commits what the work did, and returns what it returned', async () => {
      const { log, value } = await play({})
      assert.deepEqual([log, value], ['begin update commit', 'update'])
    })

    it('makes the whole transaction again after a deadlock, never a part of it', async () => {
      const { log, value } = await play({ update: [DEADLOCK] })
      assert.deepEqual([log, value], ['begin update rollback begin update commit', 'update'])
    })

    it('makes it again when the commit says that it was undone', async () => {
      const { log, value } = await play({ commit: [coded('40001')] })
      assert.deepEqual([log, value], ['begin update commit rollback begin update commit', 'update'])
    })

    it('makes it again when the connection was lost before the commit: nothing of it is left', async () => {
      const { log, value } = await play({ begin: [LOST], update: [LOST], rollback: [LOST] })
      assert.deepEqual([log, value], ['begin begin update rollback begin update commit', 'update'])
    })

    it('forgets the commit of one attempt when the next begins', async () => {
      const { log, value } = await play({ commit: [coded('40001')], begin: [undefined, LOST] })
      assert.deepEqual([log, value], ['begin update commit rollback begin begin update commit', 'update'])
    })

    it('does not make it again when the connection was lost during the commit: it may have arrived', async () => {
      // The last of them never reached a server, but the driver may have tried that one after the first was gone.
      for (const lost of [LOST, coded('57P01'), coded('ECONNREFUSED')]) {
        const { log, error, reason } = await play({ commit: [lost] })
        assert.deepEqual([log, error, reason], ['begin update commit rollback', lost, 'not-idempotent'])
      }
    })

    it('makes even that again when the caller says that twice is the same as once', async () => {
      const { log, value } = await play({ commit: [LOST] }, update, { idempotent: true })
      assert.deepEqual([log, value], ['begin update commit rollback begin update commit', 'update'])
    })

    it('throws what the work threw, whatever the rollback says', async () => {
      const mine = new Error('out of stock')
      const work = async (): Promise<string> => Promise.reject(mine)
      const { log, error, reason } = await play({ rollback: [coded('40001')] }, work)
      assert.deepEqual([log, error, reason], ['begin rollback', mine, 'permanent'])
    })

    it('heeds a mark and the judgement of its caller before the table', async () => {
      const { log } = await play({ update: [permanent(coded('40001'))] })
      assert.equal(log, 'begin update rollback')
      const judged = await play({ update: [coded('40001')] }, update, { classify: () => 'permanent' })
      assert.equal(judged.log, 'begin update rollback')
      const mine = await play({ update: [coded('23505')] }, update, { classify: () => 'transient' })
      assert.equal(mine.log, 'begin update rollback begin update commit')
    })

    it('does not commit for an attempt that was told to stop', async () => {
      const { clock, ports } = scripted()
      const database = scriptedDatabase()
      const slow = async (): Promise<void> => clock.sleep(50)
      const policy = { ...STEADY, attemptTimeoutMs: 20 }
      const settings = { ports, idempotent: true }
      const { error } = await outcomeOf(
        clock,
        shape === 'begin'
          ? retryTransaction(database.begin, slow, policy, settings)
          : retryTransaction(database.run, slow, policy, settings),
      )
      assert.ok(error instanceof AttemptTimeoutError)
      assert.ok(!database.log.includes('commit'))
      assert.equal(database.log.filter(said => said === 'rollback').length, 4)
    })

    it('is never made again after a commit that may have arrived, whatever fails and whenever', async () => {
      const failing = fc.array(fc.constantFrom(undefined, DEADLOCK, LOST, coded('23505')), { maxLength: 4 })
      const rollback = fc.array(fc.constantFrom(undefined, LOST), { maxLength: 4 })
      await fc.assert(
        fc.asyncProperty(fc.record({ begin: failing, update: failing, commit: failing, rollback }), async by => {
          const { log, error } = await play(by)
          const commits = by.commit.slice(0, log.split('commit').length - 1)
          const answered = commits.filter(failure => failure === undefined).length
          const unanswered = commits.filter(failure => failure === LOST).length
          assert.ok(log.split('begin').length - 1 <= STEADY.maxAttempts!)
          assert.ok(unanswered <= 1 && !(unanswered && answered), log)
          if (error === undefined) assert.ok(log.endsWith('commit'))
        }),
      )
    })
  })

describe("a driver's own transaction(callback)", () => {
  it('may call it again of its own accord: the last run counts', async () => {
    const { clock, ports } = scripted()
    let runs = 0
    const twice = async (body: (transaction: string) => Promise<unknown>): Promise<void> => {
      await body('first')
      await body('second')
    }
    const work = (transaction: string): string => {
      // Lost before the second commit: what came of the first, the driver has seen to.
      if (++runs === 2) throw LOST
      return `${transaction} of ${runs}`
    }
    const { value } = await outcomeOf(clock, retryTransaction(twice, work, STEADY, { ports }))
    assert.deepEqual([value, runs], ['second of 4', 4])
  })

  it('does not get to the work when the attempt was told to stop before', async () => {
    const { clock, ports } = scripted()
    const slow = async (body: (transaction: string) => Promise<unknown>): Promise<unknown> => {
      await clock.sleep(50)
      return body('late')
    }
    const policy = { ...STEADY, attemptTimeoutMs: 20 }
    let works = 0
    const { error } = await outcomeOf(
      clock,
      retryTransaction(slow, () => ++works, policy, { ports }),
    )
    assert.ok(error instanceof AttemptTimeoutError)
    assert.deepEqual([historyOf(error)?.reason, clock.monotonic(), works], ['not-idempotent', 50, 0])
  })
})

describe('a handle', () => {
  it('is released after every ending, and destroyed when it could not be rolled back', async () => {
    const endings = [
      [{}, 'release'],
      [{ update: [coded('23505')] }, 'release'],
      [{ commit: [LOST] }, 'release'],
      [{ commit: [LOST], rollback: [LOST] }, 'destroy'],
    ] as const
    for (const [failures, last] of endings) {
      const { clock, ports } = scripted()
      const { begin, log } = scriptedDatabase(failures)
      await outcomeOf(clock, retryTransaction(begin, update, STEADY, { ports }))
      assert.equal(log.at(-1), last)
    }
  })

  it('that cannot be released has been committed all the same', async () => {
    const { clock, ports } = scripted()
    const { begin, log } = scriptedDatabase()
    const once = async (): Promise<ScriptedTransaction> => ({ ...(await begin()), release: () => assert.fail('twice') })
    const { value } = await outcomeOf(clock, retryTransaction(once, update, STEADY, { ports }))
    assert.deepEqual([value, log], ['update', ['begin', 'update', 'commit']])
  })

  it('may answer at once, as that of an embedded database does', async () => {
    const { clock, ports } = scripted()
    const log: string[] = []
    const rollback = (): void => {
      log.push('rollback')
      throw new Error('no transaction is active')
    }
    const begin = (): { commit(): void; rollback(): void } => ({ commit: () => void log.push('commit'), rollback })
    const well = await outcomeOf(
      clock,
      retryTransaction(begin, () => 'yes', {}, { ports }),
    )
    const badly = await outcomeOf(
      clock,
      retryTransaction(begin, () => assert.fail('mine'), {}, { ports }),
    )
    assert.equal(well.value, 'yes')
    assert.equal((badly.error as Error).message, 'mine')
    assert.deepEqual(log, ['commit', 'rollback'])
  })

  it('is something with commit and rollback; all else is refused with what to do', async () => {
    const begin = (async () => ({ query: () => 1 })) as never
    await assert.rejects(
      retryTransaction(begin, () => 1),
      /begin must return a transaction with commit and rollback/,
    )
  })
})

describe('an abort', () => {
  it('ends the wait for the next transaction, and leaves nothing behind', async () => {
    const { clock, ports } = scripted()
    await expectNoLeaks(
      async ({ controller }) => {
        const caller = controller()
        const { begin, log } = scriptedDatabase({ update: [DEADLOCK, DEADLOCK] })
        const result = retryTransaction(begin, update, STEADY, { ports, signal: caller.signal })
        const rejected = assert.rejects(result, /enough/)
        await clock.advance(50)
        caller.abort(new Error('enough'))
        await rejected
        assert.deepEqual(log, ['begin', 'update', 'rollback', 'release'])
      },
      { clock },
    )
  })
})
