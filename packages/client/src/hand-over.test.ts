import assert from 'node:assert/strict'
import { historyOf, presets, retry, retryAfter, transient } from '@secondwind/resilience'
import type { RetryEvent, RetryPolicyInput } from '@secondwind/resilience'
import { createFetch } from '@secondwind/resilience/fetch'
import { scriptedServer, type ScriptEntry } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import { aTask, refusal, scriptedClient, TASK_ID, type ScriptedClient } from './client.test-kit.ts'
import { describeRequest } from './describe-request.ts'
import { UnreachableError } from './errors.ts'
import { handOver, type HandOverError, type TaskDescription } from './hand-over.ts'
import type { RetryTaskInput } from './wire/task.ts'

const POLICY: RetryPolicyInput = {
  maxAttempts: 10,
  initialDelayMs: 100,
  jitterType: 'NONE',
  totalBudgetMs: 3_600_000,
  inProcess: { maxAttempts: 3, totalBudgetMs: 5_000 },
}
const CHARGE: TaskDescription = { targetUrl: 'https://api.example/charge', body: '{"amount":100}' }
const CREATED: ScriptEntry = { status: 201, body: aTask() }

/** The tasks that the service was sent. */
function sent({ server }: ScriptedClient): RetryTaskInput[] {
  return server.requests.map(({ body }) => JSON.parse(body) as RetryTaskInput)
}

/** An operation that fails until its share is spent. */
async function failing(scripted: ScriptedClient, error: Error, policy: RetryPolicyInput = POLICY) {
  const events: RetryEvent[] = []
  const keys: string[] = []
  const result = await scripted
    .end(
      retry(
        attempt => {
          keys.push(attempt.idempotencyKey)
          throw error
        },
        policy,
        {
          ports: { clock: scripted.clock },
          telemetry: event => events.push(event),
          onExhausted: handOver(scripted.client, () => CHARGE),
        },
      ),
    )
    .then(
      value => ({ value, error: undefined }),
      (thrown: unknown) => ({ value: undefined, error: thrown }),
    )
  return { ...result, events, keys }
}

describe('handOver', () => {
  it('makes a task once the share of the process is spent: same key, same document, attempts and time carried over', async () => {
    const scripted = scriptedClient([CREATED])
    const { value, keys } = await failing(scripted, transient(new Error('down')))
    assert.deepEqual(value, { kind: 'handed-over', taskId: TASK_ID })
    assert.equal(keys.length, 3)
    const [task] = sent(scripted)
    const { policy, ...rest } = task!
    assert.deepEqual(rest, { ...CHARGE, idempotencyKey: keys[0], attemptsMade: 3, elapsedMs: 300 })
    assert.deepEqual({ ...policy, ...POLICY }, policy)
  })

  it('lets the history beside the answer say what led to it', async () => {
    const { value } = await failing(scriptedClient([CREATED]), transient(new Error('down')))
    const { reason, attempts, elapsedMs } = historyOf(value)!
    assert.deepEqual({ reason, attempts, elapsedMs }, { reason: 'handed-over', attempts: 3, elapsedMs: 300 })
  })

  it('throws the own last error when the service cannot be reached, and tells of it', async () => {
    const own = transient(new Error('down'))
    const { error, events } = await failing(scriptedClient(['reset']), own)
    assert.equal(error, own)
    const last = events.at(-1)!
    assert.ok(last.kind === 'exhausted-hook-failed' && last.error instanceof UnreachableError)
  })

  it('throws the own last error when the service refuses', async () => {
    const own = transient(new Error('down'))
    const { error, events } = await failing(scriptedClient([refusal(422, 'target-forbidden')]), own)
    assert.equal(error, own)
    assert.equal(events.at(-1)!.kind, 'exhausted-hook-failed')
  })

  it('is not asked about a bug', async () => {
    const scripted = scriptedClient([CREATED])
    const { error } = await failing(scripted, new TypeError('a bug'))
    assert.match(String(error), /a bug/)
    assert.equal(scripted.server.requests.length, 0)
  })

  it('sends nothing when the whole policy is spent, and says what to do', async () => {
    for (const [policy, reason] of [
      [{ maxAttempts: 3 }, 'attempts'],
      [{ ...POLICY, totalBudgetMs: 250, inProcess: { maxAttempts: 3 } }, 'deadline'],
    ] as const) {
      const scripted = scriptedClient([CREATED])
      const { events } = await failing(scripted, transient(new Error('down')), policy)
      const last = events.at(-1)!
      assert.ok(last.kind === 'exhausted-hook-failed')
      assert.equal((last.error as HandOverError).code, 'nothing-left')
      assert.match(String(last.error), new RegExp(`ends here \\(${reason}\\).*inProcess`))
      assert.equal(scripted.server.requests.length, 0)
    }
  })

  it('keeps the wait that the target asked for, as part of the whole', async () => {
    const scripted = scriptedClient([CREATED])
    await failing(scripted, retryAfter(60_000, new Error('busy')))
    const [task] = sent(scripted)
    assert.equal(task!.attemptsMade, 1)
    assert.ok(task!.delayMs! >= 60_000 && task!.delayMs! <= 72_000)
    assert.equal(task!.elapsedMs, task!.delayMs)
  })

  it('hands over no wait that is longer than the whole', async () => {
    const scripted = scriptedClient([CREATED])
    const { events } = await failing(scripted, retryAfter(3_600_001, new Error('busy')))
    assert.match(String((events.at(-1) as { error?: unknown }).error), /retry-after-too-long/)
    assert.equal(scripted.server.requests.length, 0)
  })

  it('leaves the first attempt to the service when a gate was shut before it', async () => {
    const scripted = scriptedClient([CREATED])
    const exhausted = {
      reason: 'breaker-open',
      error: new Error('open'),
      history: { reason: 'breaker-open', attempts: 0, elapsedMs: 0.4, failures: [] },
      policy: presets.service.retry,
      idempotencyKey: 'order-1',
    } as const
    await scripted.end(handOver(scripted.client, () => CHARGE)(exhausted))
    const { attemptsMade, elapsedMs, delayMs } = sent(scripted)[0]!
    assert.deepEqual({ attemptsMade, elapsedMs, delayMs }, { attemptsMade: 0, elapsedMs: 0, delayMs: undefined })
  })

  it('names the policy instead, where the description says under which name the service keeps it', async () => {
    const scripted = scriptedClient([CREATED])
    const work = (): never => {
      throw transient(new Error('down'))
    }
    const onExhausted = handOver(scripted.client, () => ({ ...CHARGE, policyId: 'payments' }))
    await scripted.end(retry(work, POLICY, { ports: { clock: scripted.clock }, onExhausted }))
    const [task] = sent(scripted)
    assert.deepEqual([task!.policyId, task!.policy], ['payments', undefined])
  })

  it('lets nobody say otherwise what the operation brings along', async () => {
    const scripted = scriptedClient([CREATED])
    const wrong = { ...CHARGE, idempotencyKey: 'another', delayMs: 5 }
    const exhausted = {
      reason: 'attempts',
      error: new Error('down'),
      history: { reason: 'attempts', attempts: 0, elapsedMs: 0, failures: [] },
      policy: presets.service.retry,
      idempotencyKey: 'order-1',
    } as const
    await assert.rejects(
      handOver(scripted.client, () => wrong)(exhausted),
      /idempotencyKey is carried over.*delayMs is carried over/s,
    )
    assert.equal(scripted.server.requests.length, 0)
  })
})

describe('describeRequest', () => {
  /** A call by `createFetch` to a target that fails, handed over to the service. */
  async function call(init: Parameters<ReturnType<typeof createFetch>>[1], script: ScriptEntry[] = ['503']) {
    const scripted = scriptedClient([CREATED])
    const { clock, client } = scripted
    const events: RetryEvent[] = []
    const target = scriptedServer(script, { clock })
    const fetch = createFetch(POLICY, {
      fetch: target.fetch,
      ports: { clock },
      telemetry: event => events.push(event),
      onExhausted: handOver(client, describeRequest),
    })
    const result = await scripted.end(fetch('https://api.example/charge?a=b#c', init)).catch((error: unknown) => error)
    return { result, events, target, task: sent(scripted)[0] }
  }

  it('describes a call of fetch as it would be made again: URL, method, headers, body, byte by byte', async () => {
    const { result, target, task } = await call({
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream', 'x-tenant': 'a' },
      body: Uint8Array.from([0, 1, 254, 255]),
      idempotencyKey: 'order-8812',
    })
    assert.deepEqual(result, { kind: 'handed-over', taskId: TASK_ID })
    assert.equal(target.requests.length, 3)
    const { policy: _, ...rest } = task!
    assert.deepEqual(rest, {
      targetUrl: 'https://api.example/charge?a=b',
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream', 'x-tenant': 'a' },
      bodyBase64: 'AAH+/w==',
      idempotencyKey: 'order-8812',
      attemptsMade: 3,
      elapsedMs: 300,
    })
  })

  it('leaves out a body where there is none', async () => {
    const { task } = await call({})
    assert.deepEqual([task!.method, task!.body, task!.bodyBase64], ['GET', undefined, undefined])
  })

  it('hands over no call that must not be made twice', async () => {
    const { result, events, task } = await call({ method: 'POST', body: 'a' }, ['hang'])
    assert.equal((result as Error).name, 'DeadlineError')
    assert.equal(task, undefined)
    const last = events.at(-1)!
    assert.ok(last.kind === 'exhausted-hook-failed')
    assert.equal((last.error as HandOverError).code, 'not-repeatable')
  })
})
