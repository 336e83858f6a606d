import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { DeadlineError, historyOf, RefusedError, type GiveUpReason } from '@secondwind/resilience'
import { instantTime } from './instant-time.ts'
import { createPaymentsClient, type PaymentsClient, type Receipt } from './payments-client.ts'
import { ABROAD, HOME, PaymentsProvider, type Weather } from './payments-provider.test-kit.ts'

instantTime()

interface World extends PaymentsClient {
  readonly provider: PaymentsProvider
  /** What the requests met, in their order: a region's first letter and its answer. */
  readonly met: () => string[]
}

function world(home: readonly Weather[] = [], abroad: readonly Weather[] = []): World {
  const provider = new PaymentsProvider()
  provider.expect(HOME, ...home)
  provider.expect(ABROAD, ...abroad)
  const client = createPaymentsClient({ home: HOME, others: [ABROAD], fetch: provider.fetch })
  return {
    ...client,
    provider,
    met: () => provider.calls.map(({ region, status }) => `${region.slice(8, 10)} ${status}`),
  }
}

/** Every request of both regions fails from now on. */
function outage({ provider }: World): void {
  provider.climate[HOME] = 503
  provider.climate[ABROAD] = 503
}

interface Ended {
  readonly receipt?: Receipt
  readonly error?: unknown
  readonly reason?: GiveUpReason | undefined
}

async function endOf(operation: Promise<Receipt>): Promise<Ended> {
  return operation.then(
    receipt => ({ receipt }),
    (error: unknown) => ({ error, reason: historyOf(error)?.reason }),
  )
}

const PAYMENT = { id: 'order-17', cents: 500 }

describe('a charge', () => {
  it('1: succeeds at the first try, with one call', async () => {
    const { charge, met } = world()
    assert.deepEqual(await charge(PAYMENT), { number: 1, cents: 500 })
    assert.deepEqual(met(), ['eu 201'])
  })

  it('2: succeeds at the third try, abroad, with the same key on each', async () => {
    const { charge, met, provider } = world([503, 503])
    assert.deepEqual(await charge(PAYMENT), { number: 1, cents: 500 })
    assert.deepEqual(met(), ['eu 503', 'eu 503', 'us 201'])
    assert.deepEqual(new Set(provider.calls.map(({ key }) => key)), new Set(['order-17']))
  })

  it('3: fails at once when the provider says no', async () => {
    for (const status of [400, 401, 402, 404, 422]) {
      const { charge, met } = world([status])
      const { error, reason } = await endOf(charge(PAYMENT))
      assert.deepEqual([(error as { status: number }).status, reason, met()], [status, 'permanent', [`eu ${status}`]])
    }
  })

  it('4: ends with the last error when all tries are spent', async () => {
    const { charge, met } = world([500, 502], [503])
    const { error, reason } = await endOf(charge(PAYMENT))
    assert.deepEqual([(error as { status: number }).status, reason], [503, 'attempts'])
    assert.deepEqual(met(), ['eu 500', 'eu 502', 'us 503'])
  })

  it('5: ends at the deadline, in the middle of a try', async () => {
    const { charge, met } = world(['hang', 'hang'], ['hang'])
    const { error, reason } = await endOf(charge(PAYMENT))
    assert.ok(error instanceof DeadlineError)
    assert.deepEqual([reason, met()], ['deadline', ['eu hang', 'eu hang', 'us hang']])
    assert.equal(Math.floor(historyOf(error)!.elapsedMs / 10), 500)
  })

  it('6: of two hundred failures at once some are denied their retry', async () => {
    const here = world()
    outage(here)
    const ended = await Promise.all(
      Array.from({ length: 200 }, (_, n) => endOf(here.charge({ id: `order-${n}`, cents: 1 }))),
    )
    assert.ok(ended.every(({ error }) => (error as { status: number }).status === 503))
    assert.ok(ended.some(({ reason }) => reason === 'budget'))
    const retries = here.provider.calls.length - 200
    const lastedMs = here.provider.calls.at(-1)!.at - here.provider.calls[0]!.at
    assert.ok(retries >= 200 && retries <= 200 + Math.ceil(lastedMs / 10), `${retries} retries in ${lastedMs} ms`)
  })

  it('7: is refused while the breaker is open, and probes find out when the outage is over', async () => {
    const here = world()
    outage(here)
    for (let n = 0; n < 20; n++) await endOf(here.charge({ id: `order-${n}`, cents: 1 }))
    const sent = here.provider.calls.length
    const { error } = await endOf(here.charge(PAYMENT))
    assert.ok(error instanceof RefusedError && error.code === 'breaker-open')
    assert.equal(here.provider.calls.length, sent, 'nothing was sent')
    here.provider.climate[HOME] = here.provider.climate[ABROAD] = 'fine'
    await pass(error.retryAfterMs!)
    for (let n = 0; n < 5; n++) await here.charge({ id: `later-${n}`, cents: 1 })
    assert.equal(here.provider.charged, 5)
  })

  it('8: that is a duplicate is answered from the record', async () => {
    const { charge, provider } = world()
    const receipt = await charge(PAYMENT)
    assert.deepEqual(await charge(PAYMENT), receipt)
    assert.equal(provider.charged, 1)
  })

  it('9: that is made twice at once is worked on once', async () => {
    const { charge, provider, met } = world()
    const [one, other] = await Promise.all([charge(PAYMENT), charge(PAYMENT)])
    assert.deepEqual([one, other, provider.charged], [one, one, 1])
    assert.ok(met().includes('eu 409'))
  })

  it('whose answer gets lost is not made again: the retry finds the record', async () => {
    const { charge, provider, met } = world(['answer-lost'])
    assert.deepEqual(await charge(PAYMENT), { number: 1, cents: 500 })
    assert.deepEqual([met(), provider.charged], [['eu answer-lost', 'eu 200'], 1])
  })

  it('goes abroad while home is silent, within its deadline', async () => {
    const { charge, met } = world(['hang', 'hang'])
    assert.deepEqual(await charge(PAYMENT), { number: 1, cents: 500 })
    assert.deepEqual(met(), ['eu hang', 'eu hang', 'us 201'])
  })
})

describe('a read', () => {
  it('that is slow gets company, and what answers first is taken', async () => {
    const { charge, read, provider, met } = world()
    await charge(PAYMENT)
    // The percentile is known after twenty; company is two calls in a hundred, and one in ten seconds in any case.
    for (let n = 0; n < 20; n++) await read(PAYMENT.id)
    provider.calls.length = 0
    provider.expect(HOME, 'hang')
    assert.deepEqual(await read(PAYMENT.id), { number: 1, cents: 500 })
    assert.equal(met().length, 2)
    assert.ok(met().includes('eu hang'))
  })
})

/** The wait of somebody who comes back later. */
function pass(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
