import assert from 'node:assert/strict'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { historyOf, observe, retryTransaction } from '@secondwind/resilience'
import { createPostgres, type PostgresServer } from './postgres-server.test-kit.ts'

/** Real processes: this file waits for events of a database, and its deadlines are far away. */
const TEST_MS = 20_000

describe('a service whose database dies and comes back', () => {
  let postgres: PostgresServer
  let pool: Pool
  let whyNot: string | undefined

  beforeAll(async () => {
    const made = await createPostgres()
    if (typeof made === 'string') {
      whyNot = made
      return
    }
    postgres = made
    await postgres.start()
    const { port } = postgres
    // #region pool
    pool = new Pool({ host: '127.0.0.1', port, user: 'postgres', max: 5, connectionTimeoutMillis: 1_000 })
    pool.on('connect', client => client.on('error', () => {})) // a lost connection is told by its next query, too
    pool.on('error', () => {}) // and nobody waits for an idle one
    // #endregion
    await pool.query('create table account (balance integer not null)')
    await pool.query('create table payment (id text primary key)')
    await pool.query('insert into account values (0)')
  }, TEST_MS)

  afterAll(async () => {
    await pool?.end()
    await postgres?.remove()
  }, TEST_MS)

  // #region begin
  const begin = async () => {
    const client = await pool.connect()
    await client.query('begin').catch((error: unknown) => {
      client.release(true)
      throw error
    })
    return {
      query: (sql: string, values: unknown[] = []) => client.query(sql, values),
      commit: () => client.query('commit'),
      rollback: () => client.query('rollback'),
      release: (isBroken: boolean) => client.release(isBroken),
    }
  }
  // #endregion

  // #region deposit
  const deposit = (id: string, totalBudgetMs = 15_000) =>
    retryTransaction(
      begin,
      async ({ query }) => {
        const { rowCount } = await query('insert into payment values ($1) on conflict do nothing', [id])
        if (rowCount === 1) await query('update account set balance = balance + 1')
      },
      { maxAttempts: 100, maxDelayMs: 500, attemptTimeoutMs: 2_000, totalBudgetMs },
      { idempotent: true }, // by its id: whoever finds the payment there adds nothing
    )
  // #endregion

  it(
    'loses nothing and does nothing twice, and nobody waits longer than the deadline',
    async ({ skip }) => {
      if (whyNot !== undefined) skip(whyNot)
      const acknowledged: string[] = []
      let restarted: Promise<void> | undefined
      let retries = 0
      const leave = observe(({ kind }) => void (kind === 'retry-scheduled' && retries++))
      const write = async (writer: number): Promise<void> => {
        for (let n = 0; n < 50; n++) {
          const id = `${writer}/${n}`
          await deposit(id)
          acknowledged.push(id)
          if (acknowledged.length === 60) restarted = postgres.kill().then(() => postgres.start())
        }
      }
      await Promise.all([0, 1, 2, 3].map(write))
      await restarted
      leave()
      assert.ok(retries > 0, 'the outage was noticed')
      const { rows } = await pool.query<{ id: string }>('select id from payment')
      assert.deepEqual(new Set(rows.map(({ id }) => id)), new Set(acknowledged))
      const { rows: accounts } = await pool.query<{ balance: number }>('select balance from account')
      assert.deepEqual([acknowledged.length, accounts[0]!.balance], [200, 200])
    },
    TEST_MS,
  )

  it(
    'tells its callers at the deadline when it does not come back',
    async ({ skip }) => {
      if (whyNot !== undefined) skip(whyNot)
      await postgres.kill()
      const error = await deposit('late', 500).catch((error: unknown) => error)
      const { reason, attempts } = historyOf(error)!
      assert.equal(reason, 'deadline')
      assert.ok(attempts > 1)
      await postgres.start()
    },
    TEST_MS,
  )
})
