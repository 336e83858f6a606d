import type { TransactionHandle } from './retry-transaction.ts'

/** An error with a code, as drivers throw them. */
export function coded(code: string): Error & { code: string } {
  return Object.assign(new Error(code), { code })
}

export interface ScriptedDatabase {
  /** What the database was told, in order. */
  readonly log: string[]
  /** Hands out a transaction. */
  readonly begin: () => Promise<ScriptedTransaction>
  /** Runs a callback in one, as some drivers do. */
  readonly run: <T>(body: (transaction: ScriptedTransaction) => Promise<T>) => Promise<T>
}

export interface ScriptedTransaction extends TransactionHandle {
  readonly query: (sql: string) => Promise<string>
}

/** A database that fails as it is told: one list of errors for each statement, taken one by one. */
export function scriptedDatabase(
  failures: { readonly [statement: string]: readonly unknown[] } = {},
): ScriptedDatabase {
  const log: string[] = []
  const left = new Map(Object.entries(failures).map(([statement, errors]) => [statement, [...errors]]))
  const say = async (statement: string): Promise<string> => {
    log.push(statement)
    const error = left.get(statement)?.shift()
    if (error !== undefined) throw error
    return statement
  }
  const begin = async (): Promise<ScriptedTransaction> => {
    await say('begin')
    return {
      query: say,
      commit: () => say('commit'),
      rollback: () => say('rollback'),
      release: isBroken => void log.push(isBroken ? 'destroy' : 'release'),
    }
  }
  return {
    log,
    begin,
    run: async body => {
      const transaction = await begin()
      try {
        const value = await body(transaction)
        await transaction.commit()
        return value
      } catch (error) {
        await transaction.rollback()
        throw error
      }
    },
  }
}
