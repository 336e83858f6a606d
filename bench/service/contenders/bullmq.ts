/** BullMQ on Redis (log synced every second); finished jobs are kept, as is its default. */
import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { CONCURRENCY, createCourier, deliveryOf, type Delivery, type Order } from '../delivery.ts'
import { preciseNow } from '../world.ts'
import { inChunks, until } from './asking.ts'
import type { Open } from './contender.ts'

const NAME = 'deliveries'

export const open: Open = async ({ redisUrl }) => {
  const redis = new Redis(redisUrl!)
  // The server is the bench's own: what an earlier lap left in it is nobody's.
  await redis.flushall()
  const connection = { url: redisUrl!, maxRetriesPerRequest: null }
  const queue = new Queue<Delivery>(NAME, { connection })
  const courier = createCourier()
  const worker = new Worker<Delivery>(NAME, job => courier.deliver(job.data), {
    connection,
    concurrency: CONCURRENCY,
    autorun: false,
  })
  await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()])
  return {
    add: order => queue.add('delivery', deliveryOf(order), optionsOf(order)),
    addMany: async orders => {
      for (const chunk of inChunks(orders, 1_000))
        await queue.addBulk(chunk.map(order => ({ name: 'delivery', data: deliveryOf(order), opts: optionsOf(order) })))
    },
    start: async () => void worker.run(),
    whenDone: () =>
      until(async () => {
        const { wait, active, delayed } = await queue.getJobCounts('wait', 'active', 'delayed')
        return wait === 0 && active === 0 && delayed === 0
      }),
    close: async () => {
      await worker.close()
      await queue.close()
      await redis.flushall()
      await redis.quit()
      await courier.close()
    },
  }
}

function optionsOf({ dueAt }: Order): { delay?: number } {
  return dueAt === undefined ? {} : { delay: Math.max(0, Math.round(dueAt - preciseNow())) }
}
