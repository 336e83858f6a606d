import { createClient, type Cause } from '@secondwind/client'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { aService, aTenantOf } from '../remote/service.test-kit.ts'
import { adviceFor, isMended } from './advice.ts'

describe('dead letters', () => {
  it('are seen by cause, then one cause with what the target said, then one by one', async () => {
    const { aTask, client, url, atTerminal, inPipe } = await aService()
    const tasks = await Promise.all(['400', '400x2', '404'].map(script => aTask(script)))
    await Promise.all(tasks.map(({ taskId }) => client.waitFor(taskId)))
    const causes = await inPipe(['dead', 'causes', '--json'])
    const [first] = (JSON.parse(causes.stdout) as { items: Cause[] }).items
    assert.deepEqual([first!.errorCode, first!.count], ['http-400', 2])
    const shown = await atTerminal(['dead', 'show', first!.causeId])
    assert.match(
      shown.stdout,
      / 2 tasks {2}http[^]*answer {3}\{"call":1,"said":"400, as asked"\}[^]*do {7}mend the request/,
    )
    const ids = (await inPipe(['dead', 'list', '--cause-id', first!.causeId, '--ids'])).stdout.trimEnd().split('\n')
    assert.deepEqual(ids.toSorted(), [tasks[0]!.taskId, tasks[1]!.taskId].toSorted())
    const elsewhere = await atTerminal(['dead', 'list', '--destination', 'https://api.example'])
    assert.equal(elsewhere.stdout, 'No dead letters.\n')
    assert.match((await atTerminal(['dead', 'causes', '--destination', url])).stderr, /try {2}secondwind dead show /)
  })

  it('of a request that has to be mended are not proposed to be sent again as they are', async () => {
    const { aTask, client, atTerminal } = await aService()
    await client.waitFor((await aTask('400')).taskId)
    const { items } = await client.deadLetters.groups().page()
    const { stderr } = await atTerminal(['dead', 'show', items[0]!.causeId])
    assert.match(stderr, /secondwind tasks attempts/)
    assert.doesNotMatch(stderr, /replay|attempt-now/)
  })

  it('of a destination that its tenant paused are probed by one attempt; all others follow by a ramp, under a stop rule', async () => {
    const { url, atTerminal } = await aService()
    const { client, flags } = await aTenantOf(url)
    const { taskId } = await client.tasks.enqueue({ targetUrl: `${url}/_flaky/503`, policy: { maxAttempts: 1 } })
    await client.waitFor(taskId)
    const { items } = await client.deadLetters.groups().page()
    const shown = async (): Promise<string> => (await atTerminal(['dead', 'show', items[0]!.causeId, ...flags])).stderr
    assert.match(await shown(), /tasks replay \S+ --wait 30s/)
    await client.destinations.pause(url, {})
    const lines = [...(await shown()).matchAll(/secondwind (.*) --url/g)].map(([, words]) => words)
    assert.deepEqual(lines.slice(1, 4), [
      `tasks replay ${taskId}`,
      `tasks attempt-now ${taskId} --wait 30s`,
      `resume ${url} --ramp 5min --stop-on-failure-rate 20%`,
    ])
    await client.destinations.force(url, { breaker: 'open' })
    assert.match(await shown(), new RegExp(`breaker ${url} --set auto .*\n +secondwind tasks replay ${taskId} --url`))
  })

  it('of a destination that an operator paused are replayed once it is resumed: no attempt passes that pause', async () => {
    const { client, url, atTerminal } = await aService()
    const { taskId } = await client.tasks.enqueue({ targetUrl: `${url}/_flaky/503`, policy: { maxAttempts: 1 } })
    await client.waitFor(taskId)
    const { items } = await client.deadLetters.groups().page()
    await client.destinations.pause(url, {})
    const { stderr } = await atTerminal(['dead', 'show', items[0]!.causeId])
    const lines = [...stderr.matchAll(/secondwind (.*) --url/g)].map(([, words]) => words)
    assert.deepEqual(lines.slice(1, 3), [
      `resume ${url} --ramp 5min --stop-on-failure-rate 20%`,
      `tasks replay ${taskId}`,
    ])
  })

  it('say at 80 columns, too, where the tasks of each cause went, and whose they were', async () => {
    const { client, url, atTerminal } = await aService()
    await client.tenants.create({ tenant: 'acme-payments' })
    const acme = createClient({ url, tenant: 'acme-payments' })
    const policy = { maxAttempts: 1 }
    const places = [`${url}/_flaky/503`, 'http://127.0.0.1:9/charge-of-the-order']
    for (const by of [client, acme])
      for (const targetUrl of places) await by.waitFor((await by.tasks.enqueue({ targetUrl, policy })).taskId)
    const { stdout } = await atTerminal(['dead', 'causes'], { columns: 80 })
    assert.ok(
      stdout.split('\n').every(line => line.length <= 80),
      stdout,
    )
    for (const place of [url, 'http://127.0.0.1:9'])
      assert.equal(stdout.match(new RegExp(`${place}\\s+(?:acme-payments|default)\\n`, 'g'))?.length, 2, stdout)
  })

  it('of an unknown cause are not found', async () => {
    const { inPipe } = await aService()
    const { exitCode, stderr } = await inPipe(['dead', 'show', 'nothing'])
    assert.equal(exitCode, 3)
    assert.match(stderr, /^error not-found {2}no dead letter died of nothing/)
    const listed = await inPipe(['dead', 'list', '--cause-id', 'nothing'])
    assert.match(listed.stderr, /^no dead letter died of nothing\. [^]*try {2}secondwind dead causes/)
    assert.equal(listed.exitCode, 0, 'an empty list is an answer')
  })

  it('that a gate held until their deadline are a cause of their own, which names the gate', async () => {
    const { client, url, atTerminal, inPipe } = await aService()
    await client.destinations.pause(url, {})
    const { taskId } = await client.tasks.enqueue({ targetUrl: `${url}/_flaky/200`, deadlineAt: Date.now() + 100 })
    const isPast = async (): Promise<boolean> =>
      (await client.tasks.explain(taskId)).explanation.includes('the deadline passed')
    for (let looks = 0; looks < 1_000 && !(await isPast()); looks++);
    await client.destinations.resume(url, {})
    await client.waitFor(taskId)
    const causes = await inPipe(['dead', 'causes', '--json'])
    const [cause] = (JSON.parse(causes.stdout) as { items: Cause[] }).items
    assert.deepEqual([cause!.reason, cause!.heldBy], ['deadline', 'paused'])
    const words = /deadline, held by paused/
    assert.match((await atTerminal(['dead', 'causes'], { columns: 160 })).stdout, words)
    assert.match((await atTerminal(['dead', 'show', cause!.causeId])).stdout, words)
    assert.match((await atTerminal(['tasks', 'get', taskId])).stdout, words)
  })

  it('are mended where the request is at fault, and replayed where the target was', () => {
    assert.match(adviceFor({ reason: 'permanent', errorCode: 'http-400' }), /^mend/)
    assert.match(adviceFor({ reason: 'attempts', errorCode: 'http-409' }), /^mend/)
    assert.match(adviceFor({ reason: 'attempts', errorCode: 'http-503' }), /probe one, then replay$/)
    assert.match(adviceFor({ reason: 'attempts', errorCode: 'http-429' }), /probe one, then replay$/)
    assert.match(adviceFor({ reason: 'deadline' }), /^replay/)
    assert.match(adviceFor({ reason: 'deadline', heldBy: 'paused' }), /^see that nothing holds it any more, probe one/)
  })

  it('that took the service with them are not sent again before it is known why', () => {
    const poison = { reason: 'lost', errorCode: 'lost' } as const
    assert.match(adviceFor(poison), /^see in the log why the service stopped .* before any replay$/)
    assert.ok(isMended(poison), 'no replay of all of them is proposed')
  })

  it('lead from a probe that came through to the replay of the others, of their cause if that is one', async () => {
    const { client, url, atTerminal } = await aService()
    await client.policies.put({ policyId: 'once', maxAttempts: 1 })
    const dies = async (path: string): Promise<string> => {
      const task = await client.tasks.enqueue({ targetUrl: `${url}/_flaky/${path}`, policyId: 'once' })
      return (await client.waitFor(task.taskId)).taskId
    }
    const [first, second] = [await dies('503?a'), await dies('503?b')]
    const [cause] = (await client.deadLetters.groups().page()).items
    const plan = `secondwind replay plan --cause-id ${cause!.causeId} --url`
    assert.match((await atTerminal(['dead', 'show', cause!.causeId])).stderr, new RegExp(plan))
    const probed = await atTerminal(['tasks', 'replay', first, '--wait', '30s'])
    assert.match(probed.stdout, /It succeeded\./)
    assert.match(probed.stderr, new RegExp(`try {2}${plan}`))
    const last = await atTerminal(['tasks', 'replay', second, '--wait', '30s'])
    assert.doesNotMatch(last.stderr, /replay plan/, 'no other is dead')
  })
})
