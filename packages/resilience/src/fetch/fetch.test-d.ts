import { createFetch, type ExhaustedFetch, type RetryingFetch, type RetryingInit } from './index.ts'

/** The compiler is the judge: what stands here compiles, and what is expected to be wrong is. */
export const standIn: typeof globalThis.fetch = createFetch()
export const typed: (input: string | URL | Request, init?: RequestInit) => Promise<Response> = createFetch({}, {})
export const named: RetryingFetch = createFetch({ maxAttempts: 5 }, { name: 'ledger', fetch: globalThis.fetch })

const retrying = createFetch()
export const responses: Promise<Response>[] = [
  retrying('https://a.test'),
  retrying(new URL('https://a.test')),
  retrying(new Request('https://a.test'), { signal: null }),
  retrying('https://a.test', { method: 'POST', body: 'x', idempotencyKey: 'key' }),
  retrying('https://a.test', { method: 'POST', body: () => 'x', idempotencyKey: true }),
  retrying('https://a.test', { method: 'POST', body: async () => new FormData(), idempotent: true }),
  retrying('https://a.test', { policy: { maxAttempts: 1 }, headers: { a: 'b' } }),
]

// What is handed over takes the place of a response, and has to be told from one.
const handingOver = createFetch(
  {},
  { onExhausted: ({ idempotencyKey }: ExhaustedFetch) => ({ taskId: idempotencyKey }) },
)
export const answer: Promise<Response | { taskId: string }> = handingOver('https://a.test')
// @ts-expect-error: it is no longer always a response
export const noStandIn: typeof globalThis.fetch = handingOver

// @ts-expect-error: policies count calls, not retries
createFetch({ retries: 3 })
// @ts-expect-error: the policy is the first argument
createFetch({}, { maxAttempts: 3 })
// @ts-expect-error: an option with a slip of the keyboard
createFetch({}, { sendHeader: false })
// @ts-expect-error: a key is a text, or true
void retrying('https://a.test', { idempotencyKey: 7 })
// @ts-expect-error: false would be no key at all
void retrying('https://a.test', { idempotencyKey: false })
// @ts-expect-error: yes or no
void retrying('https://a.test', { idempotent: 'yes' })
// @ts-expect-error: a number is no body, and a function that makes one neither
void retrying('https://a.test', { body: () => 7 })
// @ts-expect-error: not a field of a call
void retrying('https://a.test', { retries: 3 })
// @ts-expect-error: not a field of the policy
void retrying('https://a.test', { policy: { maxAtempts: 3 } })

/** A function that passes an init on can be written without naming ours. */
export function passOn(init: RequestInit): RetryingInit {
  return { ...init, idempotent: true }
}
