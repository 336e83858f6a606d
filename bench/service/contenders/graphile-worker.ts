/** graphile-worker on PostgreSQL, tuned: jobs fetched five hundred at a time, completions written together. */
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { Client } from 'pg'
import { CONCURRENCY, createCourier, deliveryOf, type Delivery, type Order } from '../delivery.ts'
import { inChunks, until } from './asking.ts'
import type { Open } from './contender.ts'

const SCHEMA = 'graphile_worker'
const NAME = 'deliver'
const logger = new Logger(() => () => {})

export const open: Open = async ({ postgresUrl }) => {
  const observer = new Client({ connectionString: postgresUrl! })
  await observer.connect()
  await observer.query(`drop schema if exists ${SCHEMA} cascade`)
  const preset = {
    worker: {
      connectionString: postgresUrl!,
      schema: SCHEMA,
      concurrentJobs: CONCURRENCY,
      localQueue: { size: 500 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
      pollInterval: 200,
      logger,
    },
  }
  const utils = await makeWorkerUtils({ preset })
  await utils.migrate()
  const courier = createCourier()
  let runner: { stop(): Promise<void> } | undefined
  return {
    add: order => utils.addJob(NAME, deliveryOf(order), { maxAttempts: 12, ...startOf(order) }),
    addMany: async orders => {
      for (const chunk of inChunks(orders, 1_000))
        await utils.addJobs(chunk.map(order => ({ identifier: NAME, payload: deliveryOf(order), ...startOf(order) })))
    },
    start: async () => {
      const taskList = { [NAME]: (delivery: unknown) => courier.deliver(delivery as Delivery) }
      runner = await run({ preset, taskList, noHandleSignals: true })
    },
    whenDone: () =>
      until(async () => {
        const { rowCount } = await observer.query(`select from ${SCHEMA}._private_jobs limit 1`)
        return rowCount === 0
      }),
    close: async () => {
      await runner?.stop()
      await utils.release()
      await observer.query(`drop schema ${SCHEMA} cascade`)
      await observer.end()
      await courier.close()
    },
  }
}

function startOf({ dueAt }: Order): { runAt?: Date } {
  return dueAt === undefined ? {} : { runAt: new Date(dueAt) }
}
