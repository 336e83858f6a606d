import assert from 'node:assert/strict'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { historyOf, observe, retryTransaction } from '@secondwind/resilience'
import { startOwnPostgres } from '../../scripts/servers/postgres.ts'
import { startOrSay } from '../../scripts/servers/real-server.test-kit.ts'
import type { OwnServer } from '../../scripts/servers/server.ts'

/** Real processes: this file waits for events of a database, and its deadlines are far away. */
const TEST_MS = 20_000

describe('a service whose database dies and comes back', () => {
  let postgres: OwnServer | undefined
  let pool: Pool

  beforeAll(async () => {
    postgres = await startOrSay(startOwnPostgres)
    if (postgres === undefined) return
    const connectionString = postgres.url
    // #region pool
    pool = new Pool({ connectionString, max: 5, connectionTimeoutMillis: 1_000 })
    pool.on('connect', client => client.on('error', () => {})) // a lost connection is told by its next query, too
    pool.on('error', () => {}) // and nobody waits for an idle one
    // #endregion
    await pool.query('create table account (balance integer not null)')
    await pool.query('create table payment (id text primary key)')
    await pool.query('insert into account values (0)')
  }, TEST_MS)

  afterAll(async () => {
    await pool?.end()
    await postgres?.stop()
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
      const server = postgres ?? skip('no PostgreSQL')
      const acknowledged: string[] = []
      let restarted: Promise<void> | undefined
      let retries = 0
      const leave = observe(({ kind }) => void (kind === 'retry-scheduled' && retries++))
      const write = async (writer: number): Promise<void> => {
        for (let n = 0; n < 50; n++) {
          const id = `${writer}/${n}`
          await deposit(id)
          acknowledged.push(id)
          if (acknowledged.length === 60) restarted = server.kill().then(() => server.restart())
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
      const server = postgres ?? skip('no PostgreSQL')
      await server.kill()
      const error = await deposit('late', 500).catch((error: unknown) => error)
      const { reason, attempts } = historyOf(error)!
      assert.equal(reason, 'deadline')
      assert.ok(attempts > 1)
      await server.restart()
    },
    TEST_MS,
  )
})
