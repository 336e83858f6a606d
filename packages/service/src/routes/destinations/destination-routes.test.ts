import assert from 'node:assert/strict'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it, onTestFinished } from 'vitest'
import { openMemoryStore } from '../../stores/sqlite/sqlite-store.ts'
import { openTemporarySqliteStore } from '../../stores/sqlite/sqlite.test-kit.ts'
import { guarded } from '../access/guarded.test-kit.ts'
import { refusalOf, serve, TASK, type Served } from '../api.test-kit.ts'

const ORIGIN = encodeURIComponent('https://api.example')

async function say({ ask }: Served, verb: string, body?: object, name = ORIGIN) {
  const answer = await ask('POST', `/destinations/${name}/${verb}`, { body })
  assert.equal(answer.status, 200, answer.text)
  return answer.json
}

describe('GET /destinations/{name}', () => {
  it('shows one that has had no task yet, by its origin, whatever its spelling', async () => {
    const { ask } = await serve()
    const { json, headers } = await ask('GET', `/destinations/${encodeURIComponent('HTTPS://API.example:443/')}`)
    assert.deepEqual([json.destination, json.backlog, json.settings], ['https://api.example', 0, undefined])
    assert.equal(headers.etag, '"0"')
  })

  it('knows it by the name it was given, and guesses what was meant', async () => {
    const served = await serve()
    await served.ask('PUT', `/destinations/${ORIGIN}/settings`, { body: { name: 'payments-api' } })
    assert.equal((await served.ask('GET', '/destinations/payments-api')).json.destination, 'https://api.example')
    const { status, json } = await served.ask('GET', '/destinations/payment-api')
    assert.deepEqual([status, json.code], [404, 'destination-not-found'])
    assert.match(json.detail, /did you mean payments-api\?/)
    assert.equal(
      (await served.ask('GET', `/destinations/${encodeURIComponent('https://api.example/path')}`)).status,
      404,
    )
  })
})

describe('a destination whose origin stands in a path as it is', () => {
  it('is not found, and the path that was meant is said', async () => {
    const { ask } = await serve()
    for (const [method, typed, meant] of [
      ['POST', '/destinations/http://127.0.0.1:4812/pause', '/destinations/http%3A%2F%2F127.0.0.1%3A4812/pause'],
      ['PUT', '/destinations/HTTPS://api.example/settings', `/destinations/${ORIGIN}/settings`],
      ['GET', '/destinations/https://api.example', `/destinations/${ORIGIN}`],
      ['GET', '/destinations/https://api.example/?x=1', `/destinations/${ORIGIN}`],
    ] as const) {
      const { status, json } = await ask(method, typed)
      assert.deepEqual([status, json.code], [404, 'route-not-found'])
      assert.equal(json.detail, `An origin in a path has to be percent-encoded: ${meant}`)
    }
    for (const typed of ['https://user:hunter2@api.example/pause', 'https://api.example/paws', 'https:///pause']) {
      const { json, text } = await ask('POST', `/destinations/${typed}`)
      assert.match(json.detail, /^Nothing is there/)
      assert.ok(!text.includes('hunter2'))
    }
  })
})

describe('a destination that is named in a filter', () => {
  const TASKS = '/retry-tasks'
  const LISTS = [TASKS, '/dead-letters', '/series']

  it('is found by any spelling of its origin and by its name, as in a path', async () => {
    const served = await serve()
    const { ask } = served
    await ask('POST', TASKS, { body: TASK })
    await ask('PUT', `/destinations/${ORIGIN}/settings`, { body: { name: 'payments-api' } })
    for (const named of ['https://api.example', 'HTTPS://API.example:443/', 'https://api.example.', 'payments-api']) {
      const query = `destination=${encodeURIComponent(named)}`
      assert.equal((await ask('GET', `${TASKS}?${query}`)).json.items.length, 1, named)
      assert.equal((await ask('GET', `/series?${query}`)).json.destination, 'https://api.example')
      assert.equal((await ask('GET', `/dead-letters?${query}`)).status, 200)
      const replay = await ask('POST', '/replays', { body: { filter: { destination: named }, ratePerSecond: 1 } })
      assert.equal(replay.json.filter.destination, 'https://api.example')
    }
  })

  it('goes on with the next page under another spelling', async () => {
    const { ask } = await serve()
    for (let n = 0; n < 2; n++) await ask('POST', TASKS, { body: TASK })
    const first = await ask('GET', `${TASKS}?limit=1&destination=https://api.example`)
    const second = await ask('GET', `${TASKS}?limit=1&destination=https://api.example/&cursor=${first.json.nextCursor}`)
    assert.deepEqual([second.status, second.json.items.length], [200, 1])
  })

  it('is an empty list where nothing was ever sent to an origin', async () => {
    const { ask } = await serve()
    const { status, json } = await ask('GET', `${TASKS}?destination=https://nobody.example`)
    assert.deepEqual([status, json.items], [200, []])
  })

  it('is refused when it is neither, and guessed', async () => {
    const { ask } = await serve()
    await ask('PUT', `/destinations/${ORIGIN}/settings`, { body: { name: 'payments-api' } })
    const must = 'must be an origin such as https://api.example, or the name of a destination'
    const filter = { destination: 'payment-api' }
    for (const [method, path, body, at = 'destination'] of [
      ...[...LISTS, '/events'].map(list => ['GET', `${list}?destination=payment-api`] as const),
      ['POST', '/replays', { filter, ratePerSecond: 1 }, 'filter.destination'],
      ['POST', '/secrets', filter],
    ] as const) {
      const { status, json } = await ask(method, path, body && { body })
      assert.deepEqual(
        [status, json.code, json.problems],
        [400, 'invalid-request', [{ at, is: 'payment-api', say: `${must}; did you mean payments-api?` }]],
        path,
      )
    }
    for (const named of ['127.0.0.1:4900', 'https://api.example/orders', 'nope'])
      assert.equal((await ask('GET', `${TASKS}?destination=${encodeURIComponent(named)}`)).status, 400, named)
  })
})

describe('a destination that is named with a password', () => {
  const named = 'https://user:hunter2@api.example'
  const inPath = `/destinations/${encodeURIComponent(named)}`
  const inQuery = `?destination=${encodeURIComponent(named)}`
  const filter = { destination: named }
  const control = { level: 'retries-off', scope: { kind: 'destination', destination: named }, reason: 'a storm' }

  for (const [method, path, body] of [
    ['GET', inPath],
    ['POST', `${inPath}/pause`, {}],
    ['PUT', `${inPath}/settings`, {}],
    ['GET', `/series${inQuery}`],
    ['GET', `/events${inQuery}`],
    ['GET', `/retry-tasks${inQuery}`],
    ['GET', `/dead-letters${inQuery}`],
    ['POST', '/replays', { filter, ratePerSecond: 1 }],
    ['POST', '/controls', control],
    ['POST', '/secrets', filter],
  ] as const)
    it(`is refused and not repeated by ${method} ${path.replace(/\bhttps.*example/, '…')}`, async () => {
      const { ask } = await serve()
      const { status, json, text } = await ask(method, path, body && { body })
      assert.deepEqual([status, json.code, json.problems[0].is], [400, 'invalid-request', '[redacted]'])
      assert.ok(!text.includes('hunter2'), text)
    })
})

describe('orders for one destination', () => {
  it('are all obeyed, however many come at the same moment', async () => {
    const clock = virtualClock()
    const { store } = await openTemporarySqliteStore({ clock })
    const served = await serve({ clock, store })
    onTestFinished(() => store.close())
    await Promise.all(Array.from({ length: 40 }, (_, index) => say(served, index % 2 === 0 ? 'drain' : 'undrain')))
    assert.equal((await served.ask('GET', `/destinations/${ORIGIN}`)).headers.etag, '"40"')
  })

  it('of a tenant are refused with 409 after twenty conflicts; an operator’s order outlasts them', async () => {
    const clock = virtualClock()
    const store = openMemoryStore({ clock })
    let conflictsLeft = 0
    const write: typeof store.write = async (writes, audit) => {
      const [first] = writes
      if (first?.kind !== 'destination' || conflictsLeft-- <= 0) return store.write(writes, audit)
      return { now: clock.now(), kind: 'conflict', name: first }
    }
    const served = await guarded({ clock, store: { ...store, write } })
    await served.addTenant('acme')
    const tenant = await served.keyFor('acme', 'operate')
    const pauseAs = (key: string) =>
      served.as('POST', `/destinations/${ORIGIN}/pause`, { key, tenant: 'acme', body: {} })
    conflictsLeft = 20
    assert.deepEqual(refusalOf(await pauseAs(tenant)), [409, 'write-conflict'])
    conflictsLeft = 500
    assert.equal((await pauseAs(served.operator)).status, 200)
  })
})

describe('PUT /destinations/{name}/settings', () => {
  it('keeps limits, and what is left out is as for all', async () => {
    const served = await serve()
    const put = (body: object, headers = {}) => served.ask('PUT', `/destinations/${ORIGIN}/settings`, { body, headers })
    const limits = { concurrency: 5, rateLimit: { perSecond: 10 } }
    const limitsBy = { since: served.clock.now(), by: 'local', isByOperator: true }
    assert.deepEqual((await put({ limits })).json.settings, { version: 1, limits, limitsBy })
    assert.deepEqual((await put({ name: 'payments' })).json.settings, { version: 2 })
  })

  it('refuses limits that the library does not know, with all problems at once', async () => {
    const { ask } = await serve()
    const limits = {
      concurrency: 0,
      rateLimit: { perSecnd: 1 },
      credit: { most: { first: 0 }, probeShare: 2 },
      budget: { kind: 'tokens' },
    }
    const { status, json } = await ask('PUT', `/destinations/${ORIGIN}/settings`, { body: { limits } })
    assert.equal(status, 400)
    const places = json.problems.map(({ at }: { at: string }) => at)
    for (const at of [
      'limits.concurrency',
      'limits.rateLimit.perSecnd',
      'limits.credit.most.first',
      'limits.credit.probeShare',
    ])
      assert.ok(places.includes(at), `${at} in ${places}`)
  })

  it('refuses the limits of a breaker, and says what stands in their place', async () => {
    const { ask } = await serve()
    const body = { limits: { breaker: { failureRate: 0.5 } } }
    const { status, json } = await ask('PUT', `/destinations/${ORIGIN}/settings`, { body })
    assert.deepEqual(
      [status, json.problems.map(({ at, say }: { at: string; say: string }) => `${at} ${say}`)],
      [
        400,
        [
          'limits.breaker is not for a lane: credit { perAnswer, most, probeShare, probeMinMs, probeMaxMs } says how many attempts it may send before its destination answers',
        ],
      ],
    )
  })

  it('refuses what the schema does not know and what the library does not, together, each once', async () => {
    const { ask } = await serve()
    const body = { name: 'a b', limits: { concurency: 1, concurrency: 0, budget: { kind: 'tokens', maxTokens: 0 } } }
    const { status, json } = await ask('PUT', `/destinations/${ORIGIN}/settings`, { body })
    assert.equal(status, 400)
    assert.deepEqual(
      json.problems.map(({ at, say }: { at: string; say: string }) => `${at} ${say}`),
      [
        'name must be a name of 1 to 100 letters, digits, dots, dashes and underscores',
        'limits.concurency is an unknown field; did you mean concurrency?',
        'limits.concurrency must be a whole number from 1 to 1000000',
        'limits.budget.kind must be ratio or rate: no other is refilled while retries wait',
      ],
    )
  })

  it('is refused if somebody has changed them since they were read', async () => {
    const served = await serve()
    const put = (body: object, headers = {}) => served.ask('PUT', `/destinations/${ORIGIN}/settings`, { body, headers })
    await put({ name: 'one' })
    assert.equal((await put({ name: 'two', version: 1 })).status, 200)
    const late = await put({ name: 'three' }, { 'if-match': '"1"' })
    assert.deepEqual([late.status, late.json.code, late.headers.etag], [412, 'version-changed', '"2"'])
    assert.equal((await put({ name: 'three', version: 1 })).status, 412)
    assert.equal((await put({ name: 'three' }, { 'if-match': '"2"' })).status, 200)
    assert.equal((await put({ name: 'four' }, { 'if-match': 'W/"x"' })).status, 400)
  })

  it('gives no name twice', async () => {
    const { ask } = await serve()
    const put = (origin: string) =>
      ask('PUT', `/destinations/${encodeURIComponent(origin)}/settings`, { body: { name: 'payments' } })
    assert.equal((await put('https://api.example')).status, 200)
    assert.equal((await put('https://api.example')).status, 200)
    const { status, json } = await put('https://other.example')
    assert.deepEqual([status, json.code], [409, 'name-taken'])
    assert.match(json.detail, /^payments is https:\/\/api\.example;/)
  })

  it('frees a name for another destination as soon as its own has another name, or none', async () => {
    const { ask } = await serve()
    const put = async (origin: string, body: object): Promise<number> =>
      (await ask('PUT', `/destinations/${encodeURIComponent(origin)}/settings`, { body })).status
    const statuses = [
      await put('https://api.example', { name: 'payments' }),
      await put('https://api.example', { name: 'charges' }),
      await put('https://other.example', { name: 'payments' }),
      await put('https://other.example', {}),
      await put('https://api.example', { name: 'payments' }),
      await put('https://other.example', { name: 'charges' }),
    ]
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, 200])
  })
})

describe('a name that two destinations are given at the same moment', () => {
  it('belongs to one of them', async () => {
    const clock = virtualClock()
    const store = openMemoryStore({ clock })
    const [one, other] = [await serve({ clock, store }), await serve({ clock, store })]
    const put = async ({ ask }: Served, origin: string): Promise<number> =>
      (await ask('PUT', `/destinations/${encodeURIComponent(origin)}/settings`, { body: { name: 'payments' } })).status
    const statuses = await Promise.all([put(one, 'https://api.example'), put(other, 'https://other.example')])
    assert.deepEqual(statuses.toSorted(), [200, 409])
  })
})

describe('POST /destinations/{name}/…', () => {
  it('resumes what is paused, or on its way back; else nothing is changed, and nothing written', async () => {
    const served = await serve()
    const unpaused = await say(served, 'resume', { rampMs: 5_000 })
    assert.equal(unpaused.settings, undefined)
    await say(served, 'pause')
    await say(served, 'resume', { rampMs: 5_000 })
    const again = await say(served, 'resume', { rampMs: 9_000 })
    assert.equal(again.settings.resumed.rampMs, 9_000)
    await served.clock.advance(9_000)
    assert.deepEqual((await say(served, 'resume', { rampMs: 5_000 })).settings, again.settings)
  })

  it('pauses with a reason and an end, resumes by a ramp, and keeps what else was set', async () => {
    const served = await serve()
    const now = served.clock.now()
    await served.ask('PUT', `/destinations/${ORIGIN}/settings`, {
      body: { name: 'payments', limits: { concurrency: 5 } },
    })
    const by = { since: now, by: 'local', isByOperator: true, reason: 'INC-2231' }
    const paused = await say(served, 'pause', { reason: 'INC-2231', forMs: 60_000 }, 'payments')
    assert.deepEqual(paused.settings.paused, { ...by, until: now + 60_000 })
    const { name, settings } = await say(served, 'resume', { rampMs: 5_000, reason: 'INC-2231' })
    const limitsBy = { since: now, by: 'local', isByOperator: true }
    assert.deepEqual(
      [name, settings],
      ['payments', { version: 3, limits: { concurrency: 5 }, limitsBy, resumed: { ...by, rampMs: 5_000 } }],
    )
    const watched = await say(served, 'resume', { stopOnFailureRate: 0.2 })
    const { rampMs, stopOnFailureRate, overLast } = watched.settings.resumed
    assert.deepEqual([rampMs, stopOnFailureRate, overLast], [60_000, 0.2, 50])
    const { items } = await served.store.audit({ limit: 10, subject: 'https://api.example' })
    assert.deepEqual(
      items.map(({ action }) => action),
      ['destination.resume', 'destination.resume', 'destination.pause', 'destination.settings'],
    )
  })

  it('shows a pause whose time is over as lifted then', async () => {
    const served = await serve()
    const since = served.clock.now() + 1_000
    await say(served, 'pause', { until: since })
    await served.clock.advance(2_000)
    const { settings } = (await served.ask('GET', `/destinations/${ORIGIN}`)).json
    assert.deepEqual(settings, { version: 1, resumed: { since, by: 'local', isByOperator: true } })
  })

  it('keeps how a pause comes back by itself, and refuses that of one that does not', async () => {
    const served = await serve()
    const { paused } = (await say(served, 'pause', { forMs: 1_000, rampMs: 5_000 })).settings
    assert.equal(paused.rampMs, 5_000)
    await served.clock.advance(1_000)
    const { settings } = (await served.ask('GET', `/destinations/${ORIGIN}`)).json
    assert.deepEqual([settings.resumed.since, settings.resumed.rampMs], [served.clock.now(), 5_000])
    const { status, json } = await served.ask('POST', `/destinations/${ORIGIN}/pause`, { body: { rampMs: 5 } })
    assert.equal(status, 400)
    assert.deepEqual(json.problems[0].say, 'goes with forMs or until: it says how it comes back by itself')
  })

  it('takes a stop rule with a resume alone', async () => {
    const { ask } = await serve()
    const control = { level: 'retries-off', scope: { kind: 'all' }, reason: 'a storm', forMs: 1_000 }
    for (const [path, body] of [
      [`/destinations/${ORIGIN}/pause`, { forMs: 1_000, stopOnFailureRate: 0.2 }],
      ['/controls', { ...control, stopOnFailureRate: 0.2 }],
    ] as const) {
      const { status, json } = await ask('POST', path, { body })
      assert.deepEqual([status, json.problems[0].at], [400, 'stopOnFailureRate'], path)
    }
  })

  it('takes no body for an answer', async () => {
    const served = await serve()
    assert.equal((await say(served, 'pause')).settings.paused.by, 'local')
  })

  it('drains: new tasks are refused, and taken again afterwards', async () => {
    const served = await serve()
    await say(served, 'drain', { reason: 'moving' })
    const refused = await served.ask('POST', '/retry-tasks', { body: TASK })
    assert.deepEqual([refused.status, refused.json.code], [503, 'draining'])
    assert.ok(Number(refused.headers['retry-after']) > 0)
    assert.equal((await say(served, 'undrain')).settings.draining, undefined)
    assert.equal((await served.ask('POST', '/retry-tasks', { body: TASK })).status, 201)
  })

  it('forces the breaker', async () => {
    const served = await serve()
    const { settings } = await say(served, 'force', { breaker: 'open' })
    const by = { since: served.clock.now(), by: 'local', isByOperator: true }
    assert.deepEqual(settings.forced, { ...by, breaker: 'open' })
    const { status, json } = await served.ask('POST', `/destinations/${ORIGIN}/force`, { body: { breaker: 'opened' } })
    assert.equal(status, 400)
    assert.match(json.problems[0].say, /did you mean open\?/)
  })

  it('of two operators at the same moment keeps both changes', async () => {
    const served = await serve()
    await Promise.all([say(served, 'drain'), say(served, 'force', { breaker: 'closed' }), say(served, 'pause')])
    const { settings } = (await served.ask('GET', `/destinations/${ORIGIN}`)).json
    assert.deepEqual(Object.keys(settings).toSorted(), ['draining', 'forced', 'paused', 'version'])
  })
})
