/** pg-boss on PostgreSQL: two workers of fifty, each fetching on while its batches come full. */
import { Client } from 'pg'
import { PgBoss } from 'pg-boss'
import { createCourier, deliveryOf, type Delivery, type Order } from '../delivery.ts'
import { inChunks, until } from './asking.ts'
import type { Open } from './contender.ts'

const SCHEMA = 'pgboss'
const NAME = 'deliveries'
const TUNED = {
  batchSize: 50,
  localConcurrency: 2,
  burstWhenBatchFull: true,
  perJobResults: true,
  pollingIntervalSeconds: 0.5, // the least it takes
} as const

export const open: Open = async ({ postgresUrl }) => {
  const observer = new Client({ connectionString: postgresUrl! })
  await observer.connect()
  await observer.query(`drop schema if exists ${SCHEMA} cascade`)
  const boss = new PgBoss({ connectionString: postgresUrl!, schema: SCHEMA })
  await boss.start()
  await boss.createQueue(NAME)
  const courier = createCourier()
  return {
    add: order => boss.send(NAME, deliveryOf(order), startOf(order)),
    addMany: async orders => {
      for (const chunk of inChunks(orders, 1_000))
        await boss.insert(
          NAME,
          chunk.map(order => ({ data: deliveryOf(order), ...startOf(order) })),
        )
    },
    start: async () => {
      await boss.work<Delivery, unknown, typeof TUNED>(NAME, TUNED, jobs =>
        Promise.all(
          jobs.map(async ({ id, data }) => {
            await courier.deliver(data)
            return { id, status: 'completed' as const }
          }),
        ),
      )
    },
    whenDone: () =>
      until(async () => {
        const { rowCount } = await observer.query(`select from ${SCHEMA}.job where state < 'completed' limit 1`)
        return rowCount === 0
      }),
    close: async () => {
      await boss.stop({ graceful: false })
      await observer.query(`drop schema ${SCHEMA} cascade`)
      await observer.end()
      await courier.close()
    },
  }
}

function startOf({ dueAt }: Order): { startAfter?: Date } {
  return dueAt === undefined ? {} : { startAfter: new Date(dueAt) }
}
