import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { guarded } from '../access/guarded.test-kit.ts'
import { TASK, type Answered } from '../api.test-kit.ts'

const ORIGIN = encodeURIComponent('https://api.example')
const DISPATCH_OFF = { level: 'dispatch-off', reason: 'INC-2231' } as const
const TO_API = { kind: 'destination', destination: 'https://api.example' } as const

/** Two tenants who know nothing of each other, and whoever runs the service. */
async function setting() {
  const served = await guarded()
  const { as, operator, addTenant, keyFor } = served
  await addTenant('acme')
  await addTenant('globex')
  const keys = { operator, acme: await keyFor('acme', 'admin'), globex: await keyFor('globex', 'admin') }
  type Who = keyof typeof keys
  const say = (who: Who, verb: string, body: object = {}, tenant?: string): Promise<Answered> =>
    as('POST', `/destinations/${ORIGIN}/${verb}`, { key: keys[who], body, ...(tenant !== undefined && { tenant }) })
  const shownTo = async (who: Who) => (await as('GET', `/destinations/${ORIGIN}`, { key: keys[who] })).json
  return { ...served, keys, say, shownTo }
}

function refused({ status, json }: Answered): string {
  assert.deepEqual([status, json.code], [403, 'scope-missing'])
  return json.detail
}

describe('what whoever runs the service orders without naming a tenant', () => {
  it('holds for every tenant, and each sees it beside its own settings and nothing of the others', async () => {
    const { say, shownTo } = await setting()
    await say('globex', 'pause', { reason: 'a secret of globex' })
    await say('operator', 'pause', { reason: 'INC-2231' })
    const { settings, operatorSettings } = await shownTo('acme')
    assert.equal(settings, undefined)
    assert.deepEqual([operatorSettings.paused.reason, operatorSettings.paused.isByOperator], ['INC-2231', true])
    assert.doesNotMatch(JSON.stringify(await shownTo('acme')), /globex/)
    const theirs = await shownTo('globex')
    assert.deepEqual(
      [theirs.settings.paused.reason, theirs.settings.paused.isByOperator],
      ['a secret of globex', undefined],
    )
    assert.equal((await shownTo('operator')).settings.paused.reason, 'INC-2231')
    assert.equal((await shownTo('operator')).operatorSettings, undefined)
  })

  it('is listed to whoever gave it alone: which hosts others use is theirs to know', async () => {
    const { as, keys } = await setting()
    const drain = (who: keyof typeof keys, host: string, tenant?: string): Promise<Answered> => {
      const named = tenant === undefined ? {} : { tenant }
      return as('POST', `/destinations/${encodeURIComponent(`https://${host}.example`)}/drain`, {
        key: keys[who],
        ...named,
      })
    }
    await drain('acme', 'of-acme')
    await drain('globex', 'of-globex')
    await drain('operator', 'of-all')
    await drain('operator', 'for-acme', 'acme')
    const listedTo = async (who: keyof typeof keys, tenant?: string): Promise<string[]> => {
      const named = tenant === undefined ? {} : { tenant }
      const { json } = await as('GET', '/destinations?hasSettings=true', { key: keys[who], ...named })
      return json.items.map(({ destination }: { destination: string }) => destination)
    }
    const ofAcme = ['https://for-acme.example', 'https://of-acme.example']
    assert.deepEqual(await listedTo('acme'), ofAcme)
    assert.deepEqual(await listedTo('globex'), ['https://of-globex.example'])
    assert.deepEqual(await listedTo('operator'), ['https://of-all.example'])
    assert.deepEqual(await listedTo('operator', 'acme'), ofAcme)
  })

  it('holds for every spelling of the host', async () => {
    const { as, keys, shownTo } = await setting()
    const dotted = encodeURIComponent('https://API.example.')
    await as('POST', `/destinations/${dotted}/drain`, { key: keys.operator, body: { reason: 'INC-2231' } })
    assert.equal((await shownTo('acme')).operatorSettings.draining.reason, 'INC-2231')
    for (const targetUrl of ['https://api.example/', 'https://api.example./', 'https://Api.Example.:443/charge']) {
      const { status, json } = await as('POST', '/retry-tasks', { key: keys.acme, body: { ...TASK, targetUrl } })
      assert.deepEqual([status, json.code], [503, 'draining'], targetUrl)
    }
    const nowhere = encodeURIComponent('http://example..')
    assert.equal((await as('GET', `/destinations/${nowhere}`, { key: keys.acme })).status, 404)
  })

  it('is a credit that no tenant passes by holding the breaker closed, for all or for one; an operator may', async () => {
    for (const tenant of [undefined, 'acme']) {
      const { as, keys, say } = await setting()
      const named = tenant === undefined ? {} : { tenant }
      assert.equal((await say('acme', 'force', { breaker: 'closed' })).status, 200)
      await say('acme', 'force', { breaker: 'auto' })
      const body = { limits: { credit: { probeMinMs: 5_000 } }, reason: 'INC-2231' }
      await as('PUT', `/destinations/${ORIGIN}/settings`, { key: keys.operator, body, ...named })
      assert.match(
        refused(await say('acme', 'force', { breaker: 'closed' })),
        /^An operator has set its credit \([0-9a-f]{16}: INC-2231\), and only an operator can take that back\.$/,
      )
      assert.equal((await say('acme', 'force', { breaker: 'open' })).status, 200)
      assert.equal((await say('acme', 'force', { breaker: 'auto' })).status, 200)
      assert.equal((await say('operator', 'force', { breaker: 'closed' }, tenant)).status, 200)
    }
  })

  it('is lifted by nobody else; what a tenant has ordered itself it lifts', async () => {
    const { say, shownTo } = await setting()
    for (const [verb, body, lift, part] of [
      ['pause', {}, ['resume', {}], 'paused'],
      ['drain', {}, ['undrain', {}], 'draining'],
      ['force', { breaker: 'open' }, ['force', { breaker: 'auto' }], 'forced'],
    ] as const) {
      await say('operator', verb, { ...body, reason: 'INC-2231' })
      const sentence = refused(await say('acme', lift[0], lift[1]))
      assert.match(
        sentence,
        /^An operator has .* \([0-9a-f]{16}: INC-2231\), and only an operator can take that back\.$/,
      )
      assert.equal((await say('acme', verb, body)).status, 200)
      assert.equal((await say('acme', lift[0], lift[1])).status, 200)
      assert.ok((await shownTo('acme')).operatorSettings[part] !== undefined)
      assert.equal((await say('operator', lift[0], lift[1])).status, 200)
    }
  })

  it('is a control of every tenant, which all see, and nobody else ends', async () => {
    const { as, keys } = await setting()
    const key = keys.acme
    const made = await as('POST', '/controls', { key: keys.operator, body: { ...DISPATCH_OFF, scope: TO_API } })
    assert.deepEqual([made.status, made.json.tenant], [201, undefined])
    const { items } = (await as('GET', '/controls', { key })).json
    assert.deepEqual([items[0].controlId, items[0].isByOperator], [made.json.controlId, true])
    assert.equal((await as('GET', '/controls/state', { key })).json.controls.length, 1)
    assert.match(refused(await as('DELETE', `/controls/${made.json.controlId}`, { key })), /alone ends it/)
    const own = await as('POST', '/controls', { key: keys.globex, body: { ...DISPATCH_OFF, scope: TO_API } })
    assert.equal(own.json.tenant, 'globex')
    assert.equal((await as('GET', '/controls', { key })).json.items.length, 1, 'nothing of another tenant')
  })

  it('says before what it would hold of all of them', async () => {
    const { as, keys } = await setting()
    await as('POST', '/retry-tasks', { key: keys.acme, body: TASK })
    await as('POST', '/retry-tasks', { key: keys.globex, body: TASK })
    await as('POST', '/retry-tasks', { key: keys.globex, body: { ...TASK, targetUrl: 'https://other.example/' } })
    const holdsFor = async (who: 'operator' | 'acme'): Promise<unknown> => {
      const body = { ...DISPATCH_OFF, scope: TO_API, preview: true }
      return (await as('POST', '/controls', { key: keys[who], body })).json.holds
    }
    assert.deepEqual(await holdsFor('operator'), { lanes: 2, waitingTasks: 2, isExact: true })
    assert.deepEqual(await holdsFor('acme'), { lanes: 1, waitingTasks: 1, isExact: true })
  })

  it('says to each tenant what it holds of its own, and to whoever runs the service what it holds of all', async () => {
    const { as, keys } = await setting()
    await as('POST', '/retry-tasks', { key: keys.acme, body: TASK })
    for (const targetUrl of [TASK.targetUrl, 'https://other.example/'])
      for (let n = 0; n < 2; n++) await as('POST', '/retry-tasks', { key: keys.globex, body: { ...TASK, targetUrl } })
    const lanesAndTasks = async (path: string, key: string, tenant?: string): Promise<number[]> => {
      const { holds } = (await as('GET', path, { key, ...(tenant !== undefined && { tenant }) })).json
      return [holds.lanes, holds.waitingTasks]
    }
    for (const [scope, ofAll] of [
      [TO_API, [2, 3]],
      [{ kind: 'all' }, [3, 5]],
    ] as const) {
      const made = await as('POST', '/controls', { key: keys.operator, body: { ...DISPATCH_OFF, scope } })
      const path = `/controls/${made.json.controlId}`
      assert.deepEqual(await lanesAndTasks(path, keys.acme), [1, 1])
      assert.deepEqual(await lanesAndTasks(path, keys.operator, 'acme'), [1, 1])
      assert.deepEqual(await lanesAndTasks(path, keys.operator), ofAll)
    }
  })

  it('turns away tasks of every tenant: of a destination, and of a policy that any of them has', async () => {
    const { as, keys, say } = await setting()
    const hand = async (who: 'acme' | 'globex', more: object = {}): Promise<string> =>
      (await as('POST', '/retry-tasks', { key: keys[who], body: { ...TASK, ...more } })).json.code
    await say('operator', 'drain', { reason: 'moving' })
    assert.deepEqual([await hand('acme'), await hand('globex')], ['draining', 'draining'])
    await say('operator', 'undrain')
    for (const key of [keys.acme, keys.globex])
      await as('POST', '/retry-policies', { key, body: { policyId: 'payments' } })
    const scope = { kind: 'policy', policyId: 'payments' }
    const body = { level: 'intake-off', reason: 'INC-2231', scope }
    assert.equal((await as('POST', '/controls', { key: keys.operator, body })).status, 201)
    const payments = { policyId: 'payments' }
    assert.deepEqual([await hand('acme', payments), await hand('globex', payments)], ['intake-off', 'intake-off'])
    const slip = { ...body, scope: { kind: 'policy', policyId: 'paymens' } }
    assert.equal((await as('POST', '/controls', { key: keys.operator, body: slip })).status, 400)
  })

  it('is written into the audit of nobody but whoever runs the service', async () => {
    const { as, keys, say } = await setting()
    await say('operator', 'pause')
    const actionsFor = async (key: string): Promise<string[]> =>
      (await as('GET', '/audit?action=destination.pause', { key })).json.items.map(
        ({ tenant }: { tenant: string }) => tenant,
      )
    assert.deepEqual([await actionsFor(keys.operator), await actionsFor(keys.acme)], [['*'], []])
  })

  it('has names that are known to whoever runs the service alone', async () => {
    const { as, keys } = await setting()
    const body = { name: 'payments' }
    await as('PUT', `/destinations/${ORIGIN}/settings`, { key: keys.operator, body })
    assert.equal((await as('GET', '/destinations/payments', { key: keys.operator })).status, 200)
    assert.equal((await as('GET', '/destinations/payments', { key: keys.acme })).status, 404)
    await as('PUT', `/destinations/${ORIGIN}/settings`, { key: keys.acme, body })
    assert.equal((await as('GET', '/destinations/payments', { key: keys.acme })).status, 200)
  })
})

describe('what an operator orders for one tenant', () => {
  it('is set in its name and seen by it, and no more lifted by it than an order for all', async () => {
    const { say, shownTo } = await setting()
    await say('operator', 'pause', { reason: 'INC-2231' }, 'acme')
    assert.deepEqual((await shownTo('acme')).settings.paused.reason, 'INC-2231')
    assert.equal((await shownTo('globex')).settings, undefined)
    refused(await say('acme', 'resume'))
    refused(await say('acme', 'pause', { forMs: 1 }))
    assert.equal((await say('operator', 'resume', {}, 'acme')).status, 200)
    assert.equal((await say('acme', 'pause')).status, 200)
    assert.equal((await say('acme', 'resume')).status, 200)
  })

  it('is no control that reaches beyond it: neither tenant would be kept from the other’s name', async () => {
    const { as, keys } = await setting()
    const throwFor = (scope: object, tenant?: string): Promise<Answered> => {
      const body = { ...DISPATCH_OFF, scope }
      return as('POST', '/controls', { key: keys.operator, body, ...(tenant !== undefined && { tenant }) })
    }
    for (const [scope, at] of [
      [{ kind: 'all' }, 'scope.kind'],
      [{ kind: 'tenant', tenant: 'globex' }, 'scope.tenant'],
    ] as const) {
      const { status, json } = await throwFor(scope, 'acme')
      assert.deepEqual([status, json.problems[0].at], [400, at])
      assert.match(json.problems[0].say, /reaches beyond acme, for whom you act: leave out the header/)
      assert.equal((await throwFor(scope)).status, 201)
    }
    const own = await throwFor({ kind: 'tenant' }, 'acme')
    assert.deepEqual([own.status, own.json.scope], [201, { kind: 'tenant', tenant: 'acme' }])
    for (const path of ['/controls', '/controls/state', '/audit']) {
      assert.doesNotMatch((await as('GET', path, { key: keys.globex })).text, /acme/)
      assert.doesNotMatch((await as('GET', path, { key: keys.acme })).text, /globex/)
    }
  })

  it('are limits that it keeps, whatever else it sets: others, or none, are refused', async () => {
    const { as, keys, shownTo } = await setting()
    const put = (who: keyof typeof keys, body: object, tenant?: string): Promise<Answered> =>
      as('PUT', `/destinations/${ORIGIN}/settings`, { key: keys[who], body, ...(tenant !== undefined && { tenant }) })
    const limits = { concurrency: 1, rateLimit: { perSecond: 1, burst: 1 } }
    await put('operator', { limits, reason: 'INC-2231' }, 'acme')
    for (const body of [{ limits: { concurrency: 500 } }, { name: 'payments' }, {}])
      assert.match(refused(await put('acme', body)), /has limited it \([0-9a-f]{16}: INC-2231\)/)
    assert.equal((await put('acme', { name: 'payments', limits })).status, 200)
    const { name, settings } = await shownTo('acme')
    assert.deepEqual([name, settings.limits, settings.limitsBy.isByOperator], ['payments', limits, true])
    refused(await put('acme', { limits: {} }))
    await put('operator', {}, 'acme')
    assert.equal((await put('acme', { limits })).status, 200)
    assert.equal((await put('acme', {})).status, 200)
  })

  it('finds room however many destinations the tenant has given settings', async () => {
    const { store, say } = await setting()
    for (let n = 0; n < 1_000; n++) {
      const audit = { tenant: 'acme', actor: 'a key', action: 'destination.settings', subject: `https://${n}.example` }
      const id = `acme https://${n}.example`
      await store.write([{ kind: 'destination', id, tenant: 'acme', document: {}, ifVersion: 0 }], audit)
    }
    const { status, json } = await say('acme', 'pause')
    assert.deepEqual([status, json.code], [429, 'too-many'])
    for (const verb of ['pause', 'drain']) assert.equal((await say('operator', verb, {}, 'acme')).status, 200)
  })

  it('is a way back that it neither shortens nor rids of its stop rule, by a pause of its own in between either', async () => {
    const { clock, say, shownTo } = await setting()
    const way = { rampMs: 600_000, stopOnFailureRate: 0.3, overLast: 20 }
    await say('operator', 'pause', {}, 'acme')
    await say('operator', 'resume', way, 'acme')
    const { resumed } = (await shownTo('acme')).settings
    assert.match(refused(await say('acme', 'resume', { rampMs: 0 })), /has said how it comes back/)
    assert.equal((await say('acme', 'pause')).status, 200)
    assert.equal((await say('acme', 'resume', { rampMs: 0 })).status, 200)
    assert.deepEqual((await shownTo('acme')).settings.resumed, resumed)
    assert.equal((await say('acme', 'pause', { forMs: 1, rampMs: 0 })).status, 200)
    await clock.advance(1)
    assert.deepEqual((await shownTo('acme')).settings.resumed, resumed)
    await clock.advance(way.rampMs)
    assert.equal((await say('acme', 'resume', { rampMs: 0 })).status, 200)
    assert.equal((await shownTo('acme')).settings.resumed.rampMs, 0)
  })
})
