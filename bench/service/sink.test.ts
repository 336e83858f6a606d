import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createCourier, deliveryOf } from './delivery.ts'
import { startSink } from './sink.ts'
import { preciseNow } from './world.ts'

it('tells when so many requests have come, and how late those were that said when they were due', async () => {
  const sink = await startSink(2)
  const courier = createCourier()
  const [one, three] = await sink.watch([1, 3])
  const [first, second] = sink.urls
  await courier.deliver(deliveryOf({ url: first! }))
  const { at } = await one!
  await courier.deliver(deliveryOf({ url: second!, dueAt: preciseNow() - 1_000 }))
  await courier.deliver(deliveryOf({ url: first!, dueAt: preciseNow() - 60_000 }))
  const reached = await three!
  assert.ok(reached.at >= at)
  assert.ok(reached.latenessMs.p50 >= 1_000 && reached.latenessMs.p50 < 60_000)
  assert.ok(reached.latenessMs.p99 >= 60_000)
  await courier.close()
  await sink.stop()
})

it('counts from nothing when it is asked to watch again', async () => {
  const sink = await startSink()
  const courier = createCourier()
  const order = { url: sink.urls[0]! }
  const [before] = await sink.watch([1])
  await courier.deliver(deliveryOf(order))
  await before!
  const [again] = await sink.watch([1])
  await courier.deliver(deliveryOf(order))
  await again!
  await courier.close()
  await sink.stop()
})
