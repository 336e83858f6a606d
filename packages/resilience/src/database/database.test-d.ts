import { retryTransaction, type TransactionHandle } from './retry-transaction.ts'
import { waitFor } from './wait-for.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const holds = <_ extends true>(): void => {}

interface Transaction {
  query(sql: string): Promise<number>
}
/** As Drizzle, Prisma, Knex, Sequelize and TypeORM have it. */
declare const database: {
  transaction<T>(callback: (transaction: Transaction) => Promise<T>, settings?: { deferrable: boolean }): Promise<T>
}
/** As mysql2 and Knex hand it out. */
declare function begin(): Promise<Transaction & { commit(): Promise<void>; rollback(): Promise<void>; release(): void }>

const handled = retryTransaction(begin, transaction => transaction.query('select 1'))
holds<Same<typeof handled, Promise<number>>>()
const bound = retryTransaction(database.transaction.bind(database), transaction => transaction.query('select 1'))
holds<Same<typeof bound, Promise<number>>>()
const called = retryTransaction(
  body => database.transaction(body, { deferrable: true }),
  async (transaction: Transaction) => `${await transaction.query('select 1')}`,
)
holds<Same<typeof called, Promise<string>>>()
const handedOver = retryTransaction(begin, () => 1, {}, { onExhausted: () => 'later' })
holds<Same<typeof handedOver, Promise<number | string>>>()
const half = async (): Promise<Pick<TransactionHandle, 'rollback'>> => ({ rollback: () => 1 })
// @ts-expect-error what cannot be committed is no transaction
void retryTransaction(half, transaction => transaction.rollback())

// What is waited for is what is true.
const found = waitFor(async (): Promise<{ id: number } | undefined> => undefined)
holds<Same<typeof found, Promise<{ id: number }>>>()
const text = waitFor((): '' | 'a' | null => 'a', { totalBudgetMs: 100 })
holds<Same<typeof text, Promise<'a'>>>()
