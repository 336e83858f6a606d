import { createClient } from '@secondwind/client'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { aService } from '../remote/service.test-kit.ts'

/** Nothing listens there. */
const DEAD_END = 'http://127.0.0.1:9'

/** A service with a tenant beta, whose only task waits before a destination that is paused for all. */
async function withBeta() {
  const service = await aService()
  const { client, url, aTask } = service
  await client.waitFor((await aTask('200')).taskId)
  await client.tenants.create({ tenant: 'beta' })
  const beta = createClient({ url, tenant: 'beta' })
  await client.destinations.force(DEAD_END, { breaker: 'open' })
  const { taskId } = await beta.tasks.enqueue({ targetUrl: `${DEAD_END}/charge` })
  return { ...service, beta, taskId }
}

describe('an operator who names no tenant', () => {
  it('finds the outage of any tenant, and is not led to a healthy destination', async () => {
    const { url, taskId, inPipe, atTerminal } = await withBeta()
    const list = await atTerminal(['destinations', 'list'])
    assert.match(list.stdout, /TENANT/)
    assert.match(list.stdout, new RegExp(`${DEAD_END} .* beta`))
    const got = await inPipe(['destinations', 'get', DEAD_END])
    assert.equal(got.exitCode, 0, got.stderr)
    assert.match(got.stdout, /127\.0\.0\.1:9 of beta\n/)
    const paused = await inPipe(['pause', DEAD_END, '--for', '30min'])
    assert.match(paused.stdout.replaceAll(/\s+/g, ' '), /1 task waits/)
    assert.doesNotMatch(paused.stderr, /nothing was ever sent|did you mean/)
    assert.ok(!paused.stderr.includes(` ${url} `), paused.stderr)
    assert.match((await atTerminal(['tasks', 'list'])).stdout, new RegExp(`${taskId}.*beta`))
    assert.match((await inPipe(['tasks', 'get', taskId])).stdout, /PENDING of beta/)
  })

  it('is told which lists are of the default tenant alone; one who names a tenant is not', async () => {
    const { inPipe } = await withBeta()
    for (const words of [
      ['policies', 'list'],
      ['replay', 'list'],
      ['secrets', 'list'],
    ]) {
      assert.match((await inPipe(words)).stderr, /^of tenant default only; others: --tenant <name>\n/)
      assert.equal((await inPipe([...words, '--tenant', 'beta'])).stderr, '')
    }
  })

  it('is told of what was not found that only the default tenant was asked; one who names a tenant is not', async () => {
    const { beta, inPipe } = await withBeta()
    await beta.policies.put({ policyId: 'payments', maxAttempts: 3 })
    const { replayId } = await beta.replays.plan({ filter: { destination: DEAD_END }, ratePerSecond: 1 })
    for (const words of [
      ['policies', 'get', 'payments'],
      ['replay', 'status', replayId],
    ]) {
      const { exitCode, stderr } = await inPipe(words)
      assert.equal(exitCode, 3)
      assert.match(stderr, /\n {2}Only tenant default was asked; others: --tenant <name>\.\n/)
      assert.equal((await inPipe([...words, '--tenant', 'beta'])).exitCode, 0)
    }
    const unknown = await inPipe(['policies', 'get', 'paymnets', '--tenant', 'beta'])
    assert.doesNotMatch(unknown.stderr, /was asked/)
    const planned = await inPipe(['replay', 'plan', '--destination', DEAD_END])
    assert.match(
      planned.stdout.replaceAll(/\s+/g, ' ') + planned.stderr,
      /There is nothing of tenant default that it would send/,
    )
  })

  it('sees each tenant of a shared destination by itself', async () => {
    const { client, beta, inPipe, atTerminal } = await withBeta()
    await client.tasks.enqueue({ targetUrl: `${DEAD_END}/charge` })
    await beta.destinations.pause(DEAD_END, { reason: 'our own' })
    const page = await atTerminal(['destinations', 'get', DEAD_END])
    assert.match(page.stdout, / backlog +2\n/)
    assert.match(page.stdout, /\nTENANT +BACKLOG [^\n]*\nbeta +1 [^\n]*\ndefault +1 /)
    const doctor = await inPipe(['doctor'])
    assert.match(doctor.stdout, /For beta: http:\/\/127\.0\.0\.1:9 is paused until it is resumed/)
    assert.match(doctor.stdout, /secondwind resume http:\/\/127\.0\.0\.1:9 --tenant beta/)
  })

  it('hears after a resume whose pauses go on, and is proposed no order that would end none', async () => {
    const { client, beta, inPipe } = await withBeta()
    await client.destinations.pause(DEAD_END, { reason: 'for all' })
    await beta.destinations.pause(DEAD_END, { reason: 'our own' })
    const ofBeta = await inPipe(['resume', DEAD_END, '--tenant', 'beta'])
    assert.match(said(ofBeta), /Your own pause is taken back; .* For all: \S+ is paused until it is resumed\./)
    assert.doesNotMatch(ofBeta.stderr, /secondwind resume/)

    await beta.destinations.pause(DEAD_END, { reason: 'our own' })
    const ofAll = await inPipe(['resume', DEAD_END])
    assert.match(said(ofAll), /Your own pause is taken back; .* For beta: \S+ is paused until it is resumed\./)
    assert.match(ofAll.stderr, /secondwind resume \S+ --tenant beta/)
  })
})

function said({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): string {
  return `${stdout}${stderr}`.replaceAll(/\s+/g, ' ')
}
