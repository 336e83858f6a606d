import assert from 'node:assert/strict'
import { InvalidOptionError } from '@secondwind/resilience/fetch'
import { describe, it } from 'vitest'
import { aTask, refusal, scriptedClient, TASK_ID } from './client.test-kit.ts'
import { ServiceError, UnreachableError } from './errors.ts'
import type { RetryTask, RetryTaskInput } from './wire/task.ts'

const TASK: RetryTaskInput = { targetUrl: 'https://api.example/charge', body: '{"amount":100}' }

describe('enqueue', () => {
  it('makes a key once for each call, the same on all of its attempts', async () => {
    const { client, server, end } = scriptedClient(['503', 'reset', { status: 201, body: aTask() }])
    const { isNew, taskId } = await end(client.tasks.enqueue(TASK))
    assert.deepEqual([isNew, taskId], [true, TASK_ID])
    await end(client.tasks.enqueue(TASK))
    const keys = server.requests.map(({ headers }) => headers['idempotency-key'])
    assert.equal(new Set(keys.slice(0, 3)).size, 1)
    assert.equal(keys.length, 4)
    assert.notEqual(keys[3], keys[0])
    assert.deepEqual(JSON.parse(server.requests[0]!.body), TASK)
  })

  it("sends the caller's own key as it is, spaces included, and repeats the call under it", async () => {
    const { client, server, end } = scriptedClient(['reset', { status: 200, body: aTask() }])
    const { isNew } = await end(client.tasks.enqueue({ ...TASK, idempotencyKey: 'order 8812' }))
    assert.equal(isNew, false)
    assert.deepEqual(
      server.requests.map(({ body }) => (JSON.parse(body) as RetryTaskInput).idempotencyKey),
      ['order 8812', 'order 8812'],
    )
  })

  it('refuses what is wrong before anything is sent, everything at once', async () => {
    const { client, server, end } = scriptedClient(['200'])
    const wrong = {
      url: 'https://a.example',
      method: 'FETCH',
      policy: { maxAtempts: 3 },
      policyId: 'payments',
      delayMs: -1,
      headers: { a: 1 },
      idempotencyKey: 'a\nb',
    }
    const error = await end(client.tasks.enqueue(wrong as never)).catch((refused: unknown) => refused)
    assert.ok(error instanceof InvalidOptionError)
    assert.deepEqual(error.problems.map(({ at }) => at).toSorted(), [
      'delayMs',
      'headers',
      'idempotencyKey',
      'method',
      'policy.maxAtempts',
      'policyId',
      'targetUrl',
      'url',
    ])
    assert.match(error.message, /url is an unknown field; did you mean targetUrl\?/)
    assert.equal(server.requests.length, 0)
  })

  it('repeats no secret in what it refuses, one task or many', async () => {
    const { client, end } = scriptedClient(['200'])
    const wrong = [
      { targetUrl: 'https://user:hunter2@api.example/' },
      { ...TASK, headers: { authorization: ['Bearer hunter2'] } },
      { ...TASK, token: 'hunter2' },
      '{"targetUrl":"https://api.example","headers":{"authorization":"hunter2"},}',
    ] as never[]
    const many = await end(client.tasks.enqueueMany(wrong))
    const errors: unknown[] = many.map(one => (one.result === 'refused' ? one.error : one))
    for (const one of wrong) errors.push(await end(client.tasks.enqueue(one)).catch((refused: unknown) => refused))
    assert.equal(errors.length, 8)
    for (const error of errors) {
      assert.ok(error instanceof InvalidOptionError)
      assert.doesNotMatch(`${error.message}${JSON.stringify(error.problems)}`, /hunter2/)
    }
  })

  it("judges a policy by the service's defaults, not by those of the library", async () => {
    const { client, server, end } = scriptedClient([{ status: 201, body: aTask() }])
    await end(client.tasks.enqueue({ ...TASK, policy: { minDelayMs: 600_000 } }))
    assert.equal(server.requests.length, 1)
  })
})

describe('a destination that is named with a password', () => {
  it('is neither sent nor repeated, wherever a call takes one', async () => {
    const { client, server, end } = scriptedClient(['200'])
    const destination = 'https://user:hunter2@api.example'
    const calls: readonly (() => Promise<unknown>)[] = [
      async () => client.destinations.get(destination),
      async () => client.destinations.pause(destination),
      async () => client.series({ destination }),
      async () => client.tasks.list({ destination }).page(),
      async () => client.deadLetters.list({ destination }).page(),
      async () => client.deadLetters.groups({ destination }).page(),
      async () => client.replays.plan({ filter: { destination }, ratePerSecond: 1 }),
      async () => client.secrets.create({ destination }),
    ]
    for (const call of calls) {
      const error = await end(call()).catch((refused: unknown) => refused)
      assert.ok(error instanceof InvalidOptionError)
      assert.doesNotMatch(`${error.message}${JSON.stringify(error.problems)}`, /hunter2/)
    }
    assert.equal(server.requests.length, 0)
  })
})

describe('what an operator does', () => {
  it('is repeated where twice is once: get, cancel, explain', async () => {
    for (const verb of ['get', 'cancel', 'explain'] as const) {
      const { client, server, end } = scriptedClient(['reset', { body: aTask() }])
      await end<unknown>(client.tasks[verb](TASK_ID))
      assert.equal(server.requests.length, 2)
    }
  })

  it('is not repeated where twice is two: attemptNow, replay', async () => {
    for (const verb of ['attemptNow', 'replay'] as const) {
      const { client, server, end } = scriptedClient(['reset', { body: aTask() }])
      await assert.rejects(end(client.tasks[verb](TASK_ID)), UnreachableError)
      assert.equal(server.requests.length, 1)
    }
  })

  it('goes to the paths of the API', async () => {
    const { client, server, end } = scriptedClient([{ body: aTask() }])
    for (const verb of ['get', 'cancel', 'attemptNow', 'replay', 'explain'] as const)
      await end<unknown>(client.tasks[verb](TASK_ID))
    assert.deepEqual(
      server.requests.map(({ method, path }) => `${method} ${path.replace(TASK_ID, 'id')}`),
      [
        'GET /retry-tasks/id',
        'DELETE /retry-tasks/id',
        'POST /retry-tasks/id/attempt-now',
        'POST /retry-tasks/id/replay',
        'GET /retry-tasks/id/explain',
      ],
    )
  })

  it('refuses an id that is none, which would lead to another path', async () => {
    const { client, server } = scriptedClient(['200'])
    for (const id of ['..', '', 'a/b', undefined])
      await assert.rejects(client.tasks.get(id as string), InvalidOptionError)
    assert.equal(server.requests.length, 0)
  })
})

describe('a change that names the version that was read', () => {
  it('sends it as If-Match, is never repeated by itself, and throws what the service says', async () => {
    const changed = refusal(412, 'version-changed')
    const { client, server, end } = scriptedClient([changed])
    const call = { ifVersion: 3 }
    const keyId = '0123456789abcdef'
    const calls: readonly (() => Promise<unknown>)[] = [
      () => client.tasks.cancel(TASK_ID, call),
      () => client.tasks.attemptNow(TASK_ID, call),
      () => client.tasks.replay(TASK_ID, call),
      () => client.policies.put({ policyId: 'payments', maxAttempts: 4 }, call),
      () => client.destinations.pause('payments-api', {}, call),
      () => client.controls.end(TASK_ID, {}, call),
      () => client.replays.run(TASK_ID, {}, call),
      () => client.replays.pause(TASK_ID, {}, call),
      () => client.replays.resume(TASK_ID, {}, call),
      () => client.replays.cancel(TASK_ID, {}, call),
      () => client.keys.rotate(keyId, {}, call),
      () => client.keys.revoke(keyId, {}, call),
      () => client.secrets.rotate(keyId, {}, call),
      () => client.secrets.remove(keyId, {}, call),
    ]
    for (const each of calls)
      await assert.rejects(
        end(each()),
        (error: ServiceError) => error.status === 412 && error.code === 'version-changed',
      )
    assert.deepEqual(
      server.requests.map(({ headers }) => headers['if-match']),
      calls.map(() => '"3"'),
    )
    const lost = scriptedClient(['reset', { status: 200, body: aTask() }])
    await assert.rejects(lost.end(lost.client.tasks.cancel(TASK_ID, call)), UnreachableError)
    assert.equal(lost.server.requests.length, 1)
  })

  it('refuses what is no version before anything is sent', async () => {
    const { client, server, end } = scriptedClient(['200'])
    await assert.rejects(end(client.tasks.cancel(TASK_ID, { ifVersion: -1 })), /ifVersion must be/)
    assert.equal(server.requests.length, 0)
  })
})

describe('a listing', () => {
  const page = (ids: readonly number[], nextCursor?: string): { body: object } => ({
    body: { items: ids.map(version => aTask({ version })), ...(nextCursor && { nextCursor }) },
  })

  it('reads one page, with the filter and where to begin', async () => {
    const { client, server, end } = scriptedClient([page([1], 'c2')])
    const listing = client.tasks.list({ status: 'PENDING', destination: 'https://a.example' })
    const { items, nextCursor } = await end(listing.page({ cursor: 'c1', limit: 10 }))
    assert.deepEqual([items.length, nextCursor], [1, 'c2'])
    const asked = new URL(server.requests[0]!.path, 'http://a')
    assert.deepEqual(Object.fromEntries(asked.searchParams), {
      status: 'PENDING',
      destination: 'https://a.example',
      cursor: 'c1',
      limit: '10',
    })
  })

  const versionsOf = async (tasks: AsyncIterable<RetryTask>): Promise<number[]> => {
    const versions: number[] = []
    for await (const { version } of tasks) versions.push(version)
    return versions
  }

  it('reads every item, through pages that are short or empty', async () => {
    const { client, server, end } = scriptedClient([page([1, 2], 'c2'), page([], 'c3'), '503', page([3])])
    assert.deepEqual(await end(versionsOf(client.tasks.list())), [1, 2, 3])
    const cursors = server.requests.map(({ path }) => new URL(path, 'http://a').searchParams.get('cursor'))
    assert.deepEqual(cursors, [null, 'c2', 'c3', 'c3'])
  })

  it('reads no page that nobody needs', async () => {
    const { client, server, end } = scriptedClient([page([1, 2], 'c2')])
    const first = async (): Promise<number | undefined> => {
      for await (const { version } of client.tasks.attempts(TASK_ID) as AsyncIterable<never>) return version
      return undefined
    }
    assert.equal(await end(first()), 1)
    assert.equal(server.requests.length, 1)
  })

  it('does not go round in circles', async () => {
    const { client, end } = scriptedClient([page([1], 'c2')])
    await assert.rejects(end(versionsOf(client.tasks.list())), /from a page back to the same page/)
  })

  it('does not go round in wider circles, whichever page they lead back to', async () => {
    for (const [before, around] of [
      [0, 2],
      [1, 2],
      [3, 5],
      [20, 7],
    ] as const) {
      const leads = Array.from({ length: 200 }, (_, at) =>
        at < before ? `to-${at}` : `round-${(at - before) % around}`,
      )
      const { client, server, end } = scriptedClient(leads.map(cursor => page([1], cursor)))
      await assert.rejects(end(versionsOf(client.tasks.list())), /from a page back to the same page/)
      assert.ok(server.requests.length <= 3 * (before + around), `${server.requests.length} pages were read`)
    }
  })

  it('can be read again from its beginning', async () => {
    const { client, end } = scriptedClient([page([1])])
    const listing = client.tasks.list()
    assert.deepEqual([await end(versionsOf(listing)), await end(versionsOf(listing))], [[1], [1]])
  })

  it('refuses a filter and a page that cannot be', async () => {
    const { client, server } = scriptedClient(['200'])
    assert.throws(() => client.tasks.list({ state: 'PENDING' } as never), /state is an unknown field/)
    assert.throws(() => client.tasks.list({ createdFrom: 1_700_000_000 }), /createdFrom must be an instant/)
    await assert.rejects(client.tasks.list().page({ limit: 1_000 }), /limit must be a whole number from 1 to 200/)
    assert.equal(server.requests.length, 0)
  })
})

describe('policies, dead letters and destinations', () => {
  it('are asked for where the API has them', async () => {
    const { client, server, end } = scriptedClient([{ body: { items: [], policyId: 'payments' } }])
    await end(client.policies.list().page())
    await end(client.policies.versions('payments').page())
    await end(client.policies.get('payments'))
    await end(client.policies.put({ policyId: 'payments', maxAttempts: 8 }))
    await end(client.deadLetters.groups({ destination: 'https://a.example' }).page())
    await end(client.deadLetters.list({ causeId: 'c-1' }).page())
    await end(client.destinations.list().page())
    await end(client.destinations.list({ hasSettings: true }).page())
    assert.deepEqual(
      server.requests.map(({ method, path }) => `${method} ${path}`),
      [
        'GET /retry-policies',
        'GET /retry-policies/payments/versions',
        'GET /retry-policies/payments',
        'POST /retry-policies',
        'GET /dead-letters?group=cause&destination=https%3A%2F%2Fa.example',
        'GET /dead-letters?group=none&causeId=c-1',
        'GET /destinations',
        'GET /destinations?hasSettings=true',
      ],
    )
  })

  it('keeps a policy again after a lost answer: the same document changes nothing', async () => {
    const { client, server, end } = scriptedClient(['reset', { body: { policyId: 'payments' } }])
    await end(client.policies.put({ policyId: 'payments' }))
    assert.equal(server.requests.length, 2)
  })

  it('refuses a policy without a name, and with fields that it does not have', async () => {
    const { client, server } = scriptedClient(['200'])
    await assert.rejects(client.policies.put({ retries: 3 } as never), /policyId must be.*retries is an unknown/s)
    await assert.rejects(client.policies.put(undefined as never), /policyId must be/)
    for (const name of ['..', '.', 'a/b']) await assert.rejects(client.policies.get(name), InvalidOptionError)
    assert.equal(server.requests.length, 0)
  })

  it('throws that a policy is unknown', async () => {
    const { client, end } = scriptedClient([refusal(404, 'policy-not-found')])
    const error = await end(client.policies.get('paymnets')).catch((refused: unknown) => refused)
    assert.ok(error instanceof ServiceError && error.code === 'policy-not-found')
  })
})
