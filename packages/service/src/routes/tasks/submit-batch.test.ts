import type { BatchItem } from '@secondwind/client'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { refusalOf, serve, startApi, TASK, type Answered, type Served } from '../api.test-kit.ts'

const LINES = { 'content-type': 'application/x-ndjson' }

describe('POST /retry-tasks/batch', () => {
  let served: Served
  beforeAll(async () => {
    served = await startApi({ limits: { batchItems: 10, batchBytes: 4_096 } })
  })
  afterAll(() => served.close())
  const post = (body: unknown, headers = {}): Promise<Answered> =>
    served.ask('POST', '/retry-tasks/batch', { body, headers })
  const results = ({ json }: Answered): string[] => json.items.map((item: { result: string }) => item.result)

  it('creates every task of a list, and what it says is there can be read', async () => {
    const answer = await post([TASK, { ...TASK, method: 'PUT' }])
    assert.deepEqual([answer.status, answer.json.created, answer.json.refused], [200, 2, 0])
    const [first, second] = answer.json.items
    assert.deepEqual([first.index, second.index], [0, 1])
    assert.equal((await served.ask('GET', `/retry-tasks/${second.taskId}`)).json.method, 'PUT')
  })

  it('creates a task for each line, and overlooks empty ones', async () => {
    const answer = await post(`${JSON.stringify(TASK)}\n\n${JSON.stringify(TASK)}\r\n`, LINES)
    assert.deepEqual(results(answer), ['created', 'created'])
  })

  it('refuses a bad item with all of its problems, and harms no other', async () => {
    const { json } = await post([TASK, { targetUrl: 'x', metod: 1, policyId: 'none' }, 3, TASK])
    assert.deepEqual(results({ json } as Answered), ['created', 'refused', 'refused', 'created'])
    const [, bad, none] = json.items
    assert.deepEqual(
      bad.problem.problems.map(({ at }: { at: string }) => at),
      ['metod', 'policyId', 'targetUrl'],
    )
    assert.deepEqual([bad.problem.status, bad.problem.code], [400, 'invalid-request'])
    assert.equal(none.problem.problems[0].say, 'must be an object')
  })

  it('refuses a line that is no JSON, and harms no other', async () => {
    const { json } = await post(`{"targetUrl":\n${JSON.stringify(TASK)}`, LINES)
    assert.deepEqual(results({ json } as Answered), ['refused', 'created'])
    assert.equal(json.items[0].problem.code, 'bad-json')
  })

  it('refuses an item with too many entries of metadata, or a line that is no text, and harms no other', async () => {
    const large = { ...TASK, metadata: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`f${at}`, 'x'])) }
    assert.deepEqual(results(await post([TASK, large])), ['created', 'refused'])
    const lines = Buffer.concat([Buffer.from(`${JSON.stringify(TASK)}\n"`), Buffer.from([0xff]), Buffer.from('"\n')])
    assert.deepEqual(results(await post(lines, LINES)), ['created', 'refused'])
  })

  it('counts lines before it parses any: more than are taken cost nothing', async () => {
    const answer = await post('x\n'.repeat(11), LINES)
    assert.deepEqual([answer.status, answer.json.code], [413, 'batch-too-large'])
  })

  it('makes one task of items with the same key, and tells a conflict from a repetition', async () => {
    const item = { ...TASK, idempotencyKey: 'batch-1' }
    const { json } = await post([item, item, { ...item, method: 'PUT' }])
    assert.deepEqual(results({ json } as Answered), ['created', 'existing', 'refused'])
    assert.equal(json.items[1].taskId, json.items[0].taskId)
    assert.deepEqual(
      [json.items[2].problem.code, json.items[2].problem.taskId],
      ['idempotency-conflict', json.items[0].taskId],
    )
    assert.deepEqual(results(await post([item])), ['existing'])
  })

  it('answers item by item where the backlog is full', async () => {
    const { ask } = await serve({ limits: { backlog: { perLane: 2, total: 10 } } })
    const answer = await ask('POST', '/retry-tasks/batch', { body: [TASK, TASK, TASK] })
    assert.deepEqual(results(answer), ['created', 'created', 'refused'])
    assert.equal(answer.json.items[2].problem.code, 'backlog-full')
  })

  it('refuses as a whole what is no list, an empty one, and one that is too long or too large', async () => {
    assert.deepEqual(refusalOf(await post(TASK)), [400, 'invalid-request', ' must be a list of at least one task'])
    assert.deepEqual(refusalOf(await post([])), [400, 'invalid-request', ' must be a list of at least one task'])
    assert.deepEqual(refusalOf(await post('\n', LINES)), [
      400,
      'invalid-request',
      ' must be a list of at least one task',
    ])
    assert.deepEqual(refusalOf(await post(Array.from({ length: 11 }, () => 0))), [413, 'batch-too-large'])
    assert.deepEqual(refusalOf(await post([{ ...TASK, body: 'x'.repeat(5_000) }])), [413, 'body-too-large'])
    assert.deepEqual(refusalOf(await post('[1,')), [400, 'bad-json'])
  })

  it('refuses a key for the whole: each item has its own', async () => {
    assert.deepEqual(refusalOf(await post([TASK], { 'idempotency-key': 'a' })), [400, 'invalid-request'])
  })
})

describe('a large batch', () => {
  /** What is asked of the service, and how often everybody else had a turn meanwhile. */
  async function turnsDuring(asked: Promise<Answered>): Promise<{ readonly answer: Answered; readonly turns: number }> {
    let turns = 0
    let isOver = false
    void asked.finally(() => (isOver = true))
    while (!isOver) {
      turns++
      await new Promise(resolve => void setImmediate(resolve))
    }
    return { answer: await asked, turns }
  }

  it('of a thousand bad items keeps nobody waiting, and is told of in a bounded answer', async () => {
    const { ask } = await serve()
    const junk = Object.fromEntries(Array.from({ length: 99 }, (_, at) => [`${'x'.repeat(60)}${at}`, at]))
    const body = Array.from({ length: 1_000 }, () => junk)
    const { answer, turns } = await turnsDuring(ask('POST', '/retry-tasks/batch', { body }))
    assert.deepEqual([answer.status, answer.json.refused], [200, 1_000])
    assert.equal(answer.json.items[999].problem.detail, 'The body has 100 problems.')
    assert.equal(answer.json.items[999].problem.problems.length, 20)
    assert.ok(turns > 100, `${turns} turns`)
  })

  for (const [what, body] of [
    ['millions of items', `[${'{},'.repeat(2_700_000)}{}]`],
    ['millions of lines', '1\n'.repeat(4_000_000)],
    ['millions of openings', '['.repeat(8_000_000)],
  ] as const)
    it(`with ${what} is refused before any of them is read`, async () => {
      const { ask } = await serve()
      const headers = what.endsWith('lines') ? LINES : {}
      const { status, json } = await ask('POST', '/retry-tasks/batch', { body, headers })
      assert.ok(['413 batch-too-large', '400 bad-json'].includes(`${status} ${json.code}`), `${status} ${json.code}`)
    })

  it('of empty lines is an empty one', async () => {
    const { ask } = await serve()
    const answer = await ask('POST', '/retry-tasks/batch', { body: '\n'.repeat(8_000_000), headers: LINES })
    assert.deepEqual([answer.status, answer.json.code], [400, 'invalid-request'])
  })

  it('that is nested deeper than anything is refused where it is, and harms no other', async () => {
    const { ask } = await serve()
    const body = `[${JSON.stringify(TASK)},${'['.repeat(500_000)}${']'.repeat(500_000)}]`
    const { json } = await ask('POST', '/retry-tasks/batch', { body })
    assert.deepEqual([json.created, json.refused], [1, 1])
    assert.match(json.items[1].problem.detail, /nested deeper than 32/)
  })

  it('with an item that is wider than anything refuses that before it is parsed, and one whose body is too large', async () => {
    const { ask } = await serve()
    const task = JSON.stringify(TASK)
    // It is no JSON: parsed, it would have all refused.
    const wide = `{"metadata":{${'"a":"",'.repeat(10_001)}}}`
    const large = JSON.stringify({ ...TASK, body: 'a'.repeat(1_600_000) })
    for (const [body, headers] of [
      [`[${task},${wide},${large},${task}]`, {}],
      [[task, wide, large, task].join('\n'), LINES],
    ] as const) {
      const { json } = await ask('POST', '/retry-tasks/batch', { body, headers })
      assert.deepEqual(
        json.items.map(({ result, problem }: BatchItem) => problem?.code ?? result),
        ['created', 'invalid-request', 'body-too-large', 'created'],
      )
    }
    const { status, json } = await ask('POST', '/retry-tasks', { body: large })
    assert.deepEqual([status, json.code], [413, 'body-too-large'])
  })
})

describe('a list', () => {
  it('is split into the items that JSON says it has, or is no JSON at all', async () => {
    const { ask } = await serve()
    const indent = fc.constantFrom(undefined, 1, '\t')
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue(), { minLength: 1, maxLength: 9 }),
        indent,
        fc.nat(),
        async (list, space, at) => {
          const whole = JSON.stringify(list, null, space)
          assert.equal((await ask('POST', '/retry-tasks/batch', { body: whole })).json.items.length, list.length)
          const cut = at % whole.length
          const broken = whole.slice(0, cut) + whole.slice(cut + 1)
          const { status, json } = await ask('POST', '/retry-tasks/batch', { body: broken || ' ' })
          assert.equal(status === 400 && json.code === 'bad-json', !isJson(broken), broken)
        },
      ),
      { numRuns: 40 },
    )
  })
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
