import { retry } from '@secondwind/resilience'
import { createFetch } from '@secondwind/resilience/fetch'
import { createClient, describeRequest, handOver } from './index.ts'
import type { Attempt, Cause, EnqueuedTask, HandedOver, Listing, RetryTask } from './index.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const holds = <_ extends true>(): void => {}

const client = createClient({ url: 'http://127.0.0.1:4747' })

const enqueued = client.tasks.enqueue({ targetUrl: 'https://a.example' })
holds<Same<typeof enqueued, Promise<EnqueuedTask>>>()
const attempts = client.tasks.attempts('a')
holds<Same<typeof attempts, Listing<Attempt>>>()
const groups = client.deadLetters.groups()
holds<Same<typeof groups, Listing<Cause>>>()
const ended = client.waitFor('a', { deadline: { inMs: 5_000 } })
holds<Same<typeof ended, Promise<RetryTask>>>()

// What was handed over is part of the result; nothing is to be annotated.
const charged = retry(() => 3, {}, { onExhausted: handOver(client, ({ policy }) => ({ targetUrl: String(policy) })) })
holds<Same<typeof charged, Promise<number | HandedOver>>>()
const described = createFetch({}, { onExhausted: handOver(client, describeRequest) })('https://a.example')
holds<Same<typeof described, Promise<Response | HandedOver>>>()
const own = createFetch(
  {},
  { onExhausted: handOver(client, async exhausted => ({ targetUrl: (await exhausted.request()).url })) },
)('https://a.example')
holds<Same<typeof own, Promise<Response | HandedOver>>>()

// @ts-expect-error a task needs somewhere to go
void client.tasks.enqueue({ method: 'POST' })
// @ts-expect-error methods are written in capital letters
void client.tasks.enqueue({ targetUrl: 'https://a.example', method: 'post' })
// @ts-expect-error groups have a destination, and no cause yet
void client.deadLetters.groups({ causeId: 'a' })
