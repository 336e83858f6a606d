/** A client for a payments provider in two regions: what docs/whole-programs.md tells about it is quoted from here. */
// #region import
import { createBudget, failOver, pipeline, type Attempt } from '@secondwind/resilience'
// #endregion

export interface Payment {
  /** Stored with the order before the first call: whoever begins again after a crash finds the same one. */
  readonly id: string
  readonly cents: number
}

export interface Receipt {
  readonly number: number
  readonly cents: number
}

export interface Provider {
  readonly home: string
  readonly others: readonly string[]
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
}

export interface PaymentsClient {
  readonly charge: (payment: Payment) => Promise<Receipt>
  readonly read: (id: string) => Promise<Receipt>
}

export function createPaymentsClient({ home, others, fetch }: Provider): PaymentsClient {
  // #region dependency
  const regions = failOver({ home, others })
  const budget = createBudget({ kind: 'rate', perSecond: 100, burst: 200 })

  const retry = {
    maxAttempts: 3, // two at home, one abroad
    initialDelayMs: 200,
    attemptTimeoutMs: 2_000, // twice the p99
    totalBudgetMs: 5_000,
    retryableStatusCodes: [408, 409, 425, 429, 500, 502, 503, 504], // 409: the same payment is under way
  }
  // #endregion

  // #region pipelines
  const charges = pipeline({ name: 'charges', retry, budget, breaker: {}, gates: [regions] })
  const reads = pipeline({ name: 'reads', retry, budget, hedge: {}, idempotent: true, gates: [regions] })
  // #endregion

  // #region charge
  const charge = ({ id, cents }: Payment) =>
    charges.run(
      regions.work((region, { signal, idempotencyKey }: Attempt) =>
        ask(`${region}/charges`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
          body: JSON.stringify({ cents }),
          signal,
        }),
      ),
      { idempotencyKey: id },
    )
  // #endregion

  // #region read
  const read = (id: string) =>
    reads.run(regions.work((region, { signal }: Attempt) => ask(`${region}/charges/${id}`, { signal })))
  // #endregion

  // #region ask
  async function ask(url: string, init: RequestInit): Promise<Receipt> {
    const response = await fetch(url, init)
    if (response.ok) return response.json() as Promise<Receipt>
    await response.body?.cancel() // its connection is free for the next attempt
    const { status, headers } = response // what decides about another attempt
    throw Object.assign(new Error(`the provider answered ${status}`), { status, headers })
  }
  // #endregion

  return { charge, read }
}
