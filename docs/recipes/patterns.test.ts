import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'vitest'
import { batch, failOver, fanOut, permanent, replicas, retry, retryTransaction, waitFor } from '@secondwind/resilience'
import { historyOf, type Attempt } from '@secondwind/resilience'
import { faults, seededRandom } from '@secondwind/resilience/testing'
import { instantTime } from './instant-time.ts'

instantTime()

const lost = (): Error => Object.assign(new Error('lost'), { code: 'ECONNRESET' })
const busy = (): Error => Object.assign(new Error('busy'), { status: 503 })

describe('a transaction', () => {
  it('is made again as a whole', async () => {
    const statements: string[] = []
    const pool = {
      connect: async () => ({
        query: async (sql: string): Promise<void> => {
          statements.push(sql)
          const updates = statements.filter(said => said.startsWith('update')).length
          if (sql.startsWith('update') && updates === 1) throw Object.assign(new Error('deadlock'), { code: '40P01' })
        },
        release: (isBroken?: boolean) => void statements.push(isBroken ? 'destroy' : 'release'),
      }),
    }
    // #region transaction
    const begin = async () => {
      const client = await pool.connect()
      await client.query('begin isolation level serializable').catch((error: unknown) => {
        client.release(true) // nobody else would give it back
        throw error
      })
      return {
        query: (sql: string) => client.query(sql),
        commit: () => client.query('commit'),
        rollback: () => client.query('rollback'),
        release: (isBroken: boolean) => client.release(isBroken),
      }
    }

    await retryTransaction(begin, async transaction => {
      await transaction.query('update accounts set balance = balance - 10 where id = 1')
      await transaction.query('update accounts set balance = balance + 10 where id = 2')
    })
    // #endregion
    assert.deepEqual(
      statements.map(sql => sql.split(' ')[0]),
      ['begin', 'update', 'rollback', 'release', 'begin', 'update', 'update', 'commit', 'release'],
    )
  })

  it('may be run by the driver itself', async () => {
    let calls = 0
    const database = {
      transaction: async <T>(callback: (transaction: { insert(name: string): string }) => Promise<T>): Promise<T> => {
        const value = await callback({ insert: name => name })
        if (++calls === 1) throw Object.assign(new Error('could not serialize access'), { code: '40001' })
        return value
      },
    }
    // #region driver
    const user = await retryTransaction(database.transaction.bind(database), async transaction =>
      transaction.insert('Ada'),
    )
    // #endregion
    assert.deepEqual([user, calls], ['Ada', 2])
  })

  it('is not made again when its commit may have arrived', async () => {
    const begin = () => ({ commit: () => Promise.reject(lost()), rollback: () => {} })
    const error = await retryTransaction(begin, () => {}).catch((error: unknown) => error)
    assert.equal(historyOf(error)!.reason, 'not-idempotent')
  })

  it('of an embedded database is two lines', async () => {
    const database = new DatabaseSync(':memory:')
    const begin = () => {
      database.exec('begin immediate')
      return { commit: () => database.exec('commit'), rollback: () => database.exec('rollback') }
    }
    const work = () => database.prepare('select 1 as one').get()
    assert.equal((await retryTransaction(begin, work))!['one'], 1)
  })
})

describe('waiting', () => {
  it('looks again and again, up to a deadline', async () => {
    let looks = 0
    const readReport = async () => (++looks === 4 ? { rows: 3 } : undefined)
    // #region poll
    const report = await waitFor(() => readReport(), { totalBudgetMs: 60_000 })
    // #endregion
    assert.equal(report.rows, 3)
  })

  it('does not look where it is told', async () => {
    const listeners = new Set<() => void>()
    const lock = {
      isHeld: true,
      tryTake: async () => !lock.isHeld,
      on: (_: 'released', listener: () => void) => void listeners.add(listener),
      off: (_: 'released', listener: () => void) => void listeners.delete(listener),
    }
    const release = (): void => {
      lock.isHeld = false
      for (const listener of listeners) listener()
    }
    setTimeout(release, 2_000)
    // #region notified
    await waitFor(() => lock.tryTake(), {
      totalBudgetMs: 5_000,
      subscribe: notify => {
        lock.on('released', notify)
        return () => lock.off('released', notify)
      },
    })
    // #endregion
    assert.equal(listeners.size, 0)
  })
})

describe('a fan-out of thirty reads', () => {
  it('of which one in a hundred fails, hardly ever loses one', async () => {
    const ids = Array.from({ length: 30 }, (_, id) => id)
    let calls = 0
    let incomplete = 0
    const read: (id: number, attempt: Attempt) => Promise<string> = async id => `user ${id}`
    const shaky = faults(read, { errorRate: 0.01, random: seededRandom(9) })
    const readUser = (id: number, attempt: Attempt): Promise<string> => {
      calls++
      return shaky(id, attempt)
    }
    for (let request = 0; request < 100; request++) {
      // #region fan-out
      const leaves = await fanOut(
        ids.map(id => (attempt: Attempt) => readUser(id, attempt)),
        { deadlineAt: Date.now() + 2_000, reserveMs: 100 },
      )
      const users = leaves.flatMap(leaf => (leaf.status === 'fulfilled' ? leaf.value : []))
      // #endregion
      if (users.length < ids.length) incomplete++
    }
    // Without retries 26 of 100 such requests lose at least one of their reads.
    assert.equal(incomplete, 0)
    assert.ok(calls > 3_000 && calls < 3_000 * 1.02)
  })

  it('may have enough with some of its leaves', async () => {
    const askReplica = async (n: number, { signal }: Attempt) =>
      n < 2 ? n : new Promise((_, no) => (signal.onabort = no))
    // #region quorum
    const answers = await fanOut(
      [0, 1, 2].map(n => (attempt: Attempt) => askReplica(n, attempt)),
      { minSuccesses: 2 },
    )
    // #endregion
    assert.deepEqual(
      answers.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected'],
    )
  })
})

describe('a batch', () => {
  it('sends again only what failed', async () => {
    const messages = ['a', 'b', 'c']
    const sent: string[][] = []
    const queue = {
      sendAll: async (entries: readonly string[]) => {
        sent.push([...entries])
        return entries.map(entry => ({ id: entry, error: entry === 'b' && sent.length === 1 ? busy() : undefined }))
      },
    }
    // #region batch
    const results = await batch(
      messages,
      async items => {
        const answers = await queue.sendAll(items)
        return answers.map(({ id, error }) =>
          error ? { status: 'rejected', reason: error } : { status: 'fulfilled', value: id },
        )
      },
      { maxItems: 10 },
    )
    const failed = messages.filter((_, n) => results[n]!.status === 'rejected')
    // #endregion
    assert.deepEqual([sent, failed], [[['a', 'b', 'c'], ['b']], []])
  })

  it('finds the one item that spoils it', async () => {
    const rows = ['1', '2', 'three', '4', '5', '6', '7', '8']
    let calls = 0
    const insertAll = async (values: readonly string[]): Promise<void> => {
      calls++
      if (values.some(value => Number.isNaN(Number(value)))) throw permanent(new Error('not a number'))
    }
    // #region poison
    const results = await batch(rows, async values => {
      await insertAll(values)
      return values.map(value => ({ status: 'fulfilled', value }))
    })
    // #endregion
    assert.deepEqual([results.map(({ status }) => status[0]).join(''), calls], ['ffrfffff', 7])
  })
})

describe('a consumer', () => {
  it('is not held up by a message that nobody can handle', async () => {
    const parked: string[] = []
    const acknowledged: string[] = []
    const queue = {
      take: async () => ['{"id":1}', 'not JSON', '{"id":2}'],
      acknowledge: async (message: string) => void acknowledged.push(message),
      park: async (message: string, why: string) => void parked.push(`${message}: ${why}`),
    }
    const tries = new Map<number, number>()
    const handle: (message: { id: number }, attempt: Attempt) => Promise<void> = async ({ id }) => {
      tries.set(id, (tries.get(id) ?? 0) + 1)
      if (id === 2 && tries.get(id) === 1) throw busy()
    }
    // #region consumer
    for (const message of await queue.take()) {
      const ended = await retry(attempt => handle(JSON.parse(message), attempt)).then(
        () => undefined,
        (error: unknown) => historyOf(error)!.reason,
      )
      if (ended !== undefined) await queue.park(message, ended)
      await queue.acknowledge(message)
    }
    // #endregion
    assert.deepEqual(parked, ['not JSON: permanent'])
    assert.deepEqual([acknowledged.length, tries.get(2)], [3, 2])
  })
})

describe('replicas', () => {
  it('share the calls, and those that fail are set back', async () => {
    const calls: string[] = []
    const get: (url: string, options: { signal: AbortSignal }) => Promise<string> = async url => {
      calls.push(url)
      if (url.startsWith('https://a')) throw lost()
      return 'ok'
    }
    // #region replicas
    const catalogue = replicas(['https://a.example', 'https://b.example', 'https://c.example'])

    const read = (path: string) => catalogue.run((address, { signal }) => get(address + path, { signal }))
    // #endregion
    for (let n = 0; n < 6; n++) assert.equal(await read('/items'), 'ok')
    assert.equal(calls.filter(url => url.startsWith('https://a')).length, 1)
  })

  it('of another region are called after those at home', async () => {
    const calls: string[] = []
    const charge: (address: string, attempt: Attempt) => Promise<string> = async address => {
      calls.push(address)
      if (address.includes('eu')) throw busy()
      return 'charged'
    }
    // #region fail-over
    const payments = failOver({ home: 'https://eu.pay.example', others: ['https://us.pay.example'] })

    const receipt = await payments.run((address, attempt) => charge(address, attempt))
    // #endregion
    assert.equal(receipt, 'charged')
    assert.deepEqual(calls, ['https://eu.pay.example', 'https://eu.pay.example', 'https://us.pay.example'])
  })
})
