import type { AuditEntry, Cause, Destination, Replay, RetryTask } from '@secondwind/client'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { anAnswer, aService } from './remote/service.test-kit.ts'

/** A dependency that is down until it is mended, and counts what it was sent. */
async function payments(): Promise<{ url: string; mend: () => void; sent: () => number }> {
  let [isDown, sent] = [true, 0]
  const url = await anAnswer((request, response) => {
    request.resume().on('end', () => {
      sent += 1
      response.writeHead(isDown ? 503 : 200).end(isDown ? 'upstream connect error' : '{}')
    })
  })
  return { url, mend: () => void (isDown = false), sent: () => sent }
}

describe('an outage, by the command line alone', () => {
  it('is seen, stopped, understood, resumed step by step, made good at a rate, and over', async () => {
    const { url, mend, sent } = await payments()
    const { inPipe, atTerminal } = await aService()
    const done = async <Answer>(...words: string[]): Promise<Answer> => {
      const { stdout, stderr, exitCode } = await inPipe([...words, '--json'])
      assert.equal(exitCode, 0, `${words.join(' ')}: ${stderr}`)
      return JSON.parse(stdout) as Answer
    }
    const submit = (key: string, ...flags: string[]): Promise<RetryTask> =>
      done<RetryTask>(
        'tasks',
        'submit',
        `${url}/capture`,
        '--policy-id',
        'payments',
        '--idempotency-key',
        key,
        ...flags,
      )

    // A hasty policy, and a breaker that somebody had switched off: a storm.
    const hasty = '{"policyId":"payments","maxAttempts":4,"initialDelayMs":50,"maxDelayMs":100}'
    await done('policies', 'put', hasty)
    await submit('order-0')
    await done('destinations', 'breaker', url, '--set', 'closed')
    const keys = Array.from({ length: 11 }, (_, index) => `order-${index + 1}`)
    const tasks = await Promise.all(keys.map(key => submit(key)))
    // Others wait behind them: without any it would be over.
    for (const key of ['later-1', 'later-2', 'later-3']) await submit(key, '--delay', '1h')
    for (const { taskId } of tasks) assert.equal((await inPipe(['tasks', 'watch', taskId])).exitCode, 6)

    // It is seen.
    const seen = await atTerminal(['destinations', 'list'])
    assert.match(
      seen.stdout.replaceAll(/\s+/g, ' '),
      new RegExp(`A retry storm: 7\\d(?:\\.\\d)? % of the attempts at ${url} in the last 1 min were retries`),
    )

    // It is stopped: what comes in from now on waits, and costs nothing.
    await done('pause', url, '--for', '30min', '--reason', 'INC-2231')
    const before = sent()
    const held = await submit('order-12')
    const { hold } = await done<Pick<Destination, 'hold'>>('tasks', 'explain', held.taskId)
    assert.deepEqual([hold?.reason, sent()], ['paused', before])

    // It is understood.
    const { items: causes } = await done<{ items: Cause[] }>('dead', 'causes', '--destination', url)
    assert.deepEqual([causes.length, causes[0]!.errorCode, causes[0]!.count], [1, 'http-503', 12])
    const { causeId } = causes[0]!
    const shown = await atTerminal(['dead', 'show', causeId])
    assert.equal(shown.exitCode, 0, shown.stderr)
    assert.match(shown.stdout, /upstream connect error[^]*see that the target is back, probe one, then replay/)

    // It is mended, and resumed: one request at a time first. One dead letter goes before the others.
    mend()
    await done('resume', url, '--ramp', '2s', '--stop-on-failure-rate', '20%', '--reason', 'INC-2231')
    assert.equal((await inPipe(['tasks', 'watch', held.taskId])).exitCode, 0)
    const probed = await done<RetryTask>('tasks', 'replay', tasks[0]!.taskId, '--wait', '30s')
    assert.deepEqual([probed.status, sent()], ['SUCCEEDED', before + 2])

    // The rest is brought back at a rate.
    const plan = await done<Replay>('replay', 'plan', '--cause-id', causeId, '--rate', '50/s', '--reason', 'INC-2231')
    assert.equal(plan.selected, 11)
    await done('replay', 'run', plan.replayId, '--detach')
    const over = await done<Replay>('replay', 'status', plan.replayId, '--wait')
    assert.deepEqual([over.status, over.counts.succeeded, over.counts.failed], ['FINISHED', 11, 0])

    // It is over: nothing was lost, nobody was called twice, and it is known who did what and why.
    assert.equal((await atTerminal(['dead', 'causes'])).stdout, 'No dead letters.\n')
    assert.equal(sent(), before + 13)
    const { items } = await done<{ items: AuditEntry[] }>('audit', '--limit', '200')
    const steps = items.filter(({ reason }) => reason === 'INC-2231').map(({ action }) => action)
    assert.deepEqual(steps, ['replay.create', 'destination.resume', 'destination.pause'])
  }, 120_000)
})
