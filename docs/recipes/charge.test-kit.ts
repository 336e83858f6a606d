// #region import
import { createClient, handOver, type HandedOver } from '@secondwind/client'
import { retry } from '@secondwind/resilience'
// #endregion

// #region policy
const policy = {
  maxAttempts: 40,
  totalBudgetMs: 86_400_000, // a day, all in all,
  initialDelayMs: 20,
  maxDelayMs: 500,
  inProcess: { maxAttempts: 3, totalBudgetMs: 2_000 }, // of which two seconds while somebody waits
} as const
// #endregion

interface Charge {
  readonly order: string
  readonly serviceUrl: string
  readonly paymentsUrl: string
}

export async function charge({ order, serviceUrl, paymentsUrl }: Charge): Promise<{ charged: true } | HandedOver> {
  // #region charge
  const client = createClient({ url: serviceUrl }) // one for the whole program
  const targetUrl = `${paymentsUrl}/charge`
  const body = JSON.stringify({ order, amount: 100 })

  return retry(
    async ({ attempt, idempotencyKey, signal }) => {
      const headers = { 'idempotency-key': idempotencyKey, 'retry-attempt': String(attempt) }
      const response = await fetch(targetUrl, { method: 'POST', headers, body, signal })
      if (!response.ok) throw Object.assign(new Error('the charge failed'), { status: response.status })
      return (await response.json()) as { charged: true }
    },
    policy,
    {
      idempotencyKey: `charge-${order}`,
      onExhausted: handOver(client, () => ({ targetUrl, method: 'POST', body })),
    },
  )
  // #endregion
}
