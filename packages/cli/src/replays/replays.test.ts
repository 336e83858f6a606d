import type { Replay } from '@secondwind/client'
import { systemClock } from '@secondwind/resilience'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { atTerminal as type } from '../command-line.test-kit.ts'
import { aService, aWayTo, type RunningService } from '../remote/service.test-kit.ts'

/** Dead letters that will be well when they are sent again: each endpoint says no once. */
async function deadLetters({ client, aTask }: RunningService, scripts: readonly string[]): Promise<readonly string[]> {
  const tasks = await Promise.all(scripts.map(script => aTask(script, { policy: { maxAttempts: 1 } })))
  await Promise.all(tasks.map(({ taskId }) => client.waitFor(taskId)))
  return tasks.map(({ taskId }) => taskId)
}

const MENDED = ['503', '503,200', '503,200x2', '503,200x3']

describe('replay', () => {
  it('plans first: what it would send, what it leaves alone and why; then runs exactly that', async () => {
    const service = await aService()
    const { url, client, inPipe, atTerminal } = service
    const ids = await deadLetters(service, [...MENDED, '400x9'])
    const planned = await atTerminal(['replay', 'plan', '--destination', url, '--rate', '50/s', '--reason', 'INC-2231'])
    assert.match(
      planned.stdout,
      /PLANNED\n[^]*selected {2}4\n {2}skipped {3}1 permanent, as [^]*\n\nNothing is sent yet\.\n$/,
    )
    const [, replayId = ''] = /try {2}secondwind replay run (\S+)/.exec(planned.stderr) ?? []
    assert.equal((await client.tasks.get(ids[0]!)).status, 'EXHAUSTED')
    const run = await inPipe(['replay', 'run', replayId, '--json'])
    const { status, counts, verdict } = JSON.parse(run.stdout) as Replay & { verdict: string }
    assert.deepEqual([status, counts.sent, counts.succeeded, run.exitCode], ['FINISHED', 4, 4, 0], run.stderr)
    assert.match(verdict, /^All are sent: 4 of 4 sent, 4 succeeded/)
    for (const taskId of ids.slice(0, 4)) assert.equal((await client.tasks.get(taskId)).status, 'SUCCEEDED')
    const { stdout: ended } = await atTerminal(['replay', 'status', replayId])
    assert.equal(ended.match(/4 of 4 sent/g)?.length, 1, 'counts are said once')
    assert.match((await inPipe(['replay', 'list'])).stdout, new RegExp(`\n${replayId}\tFINISHED\t4\t4\t`))
  })

  it('stops by its own rule, exits with 6, and says what has stayed dead', async () => {
    const service = await aService()
    const broken = Array.from({ length: 12 }, (_, index) => `503x${100 + index}`)
    await deadLetters(service, broken)
    const words = ['replay', 'plan', '--error-code', 'http-503', '--rate', '20/s', '--canary', '3', '--json']
    const { replayId, selected } = JSON.parse((await service.inPipe(words)).stdout) as Replay
    assert.equal(selected, 12)
    const run = await service.atTerminal(['replay', 'run', replayId])
    assert.equal(run.exitCode, 6, run.stderr)
    assert.match(
      run.stdout.replaceAll(/\s+/g, ' '),
      /It stopped by its rule: \d+ of the last \d+ had failed at first, and of 3 at most 0 may\. \d+ have stayed dead\./,
    )
    assert.match(run.stderr, /try {2}secondwind dead causes --destination \S+ .*\n +secondwind replay resume /)
  })

  it('says of one that finds no room that it waits for some', async () => {
    const service = await aService({ backlog: 10 })
    const { url, client, aTask, inPipe } = service
    await deadLetters(service, ['503'])
    for (let n = 0; n < 9; n++) await aTask('200', { delayMs: 3_600_000 })
    const words = ['replay', 'plan', '--destination', url, '--rate', '50/s', '--json']
    const { replayId } = JSON.parse((await inPipe(words)).stdout) as Replay
    await inPipe(['replay', 'run', replayId, '--detach'])
    while (!(await client.replays.get(replayId)).waitsForRoom) await systemClock.sleep(20)
    const { stdout } = await inPipe(['replay', 'status', replayId])
    assert.match(stdout, /\n {2}waits {5}for room: the backlog is full, and the rest has stayed dead\n/)
  })

  it('says of a plan that selects nothing that it would send nothing, and how to plan what was left alone', async () => {
    const service = await aService()
    await deadLetters(service, ['400x9'])
    const planned = await service.atTerminal(['replay', 'plan', '--destination', service.url, '--rate', '5/s'])
    assert.match(
      planned.stdout,
      /rate {6}5\/s\n[^]*\n\nThere is nothing that it would send; the plan was cancelled at once\.\n$/,
    )
    assert.deepEqual((await service.client.replays.list({ status: 'PLANNED' }).page()).items, [])
    assert.doesNotMatch(planned.stderr, /replay run/)
    assert.match(
      planned.stderr,
      new RegExp(`secondwind replay plan --destination ${service.url} --rate 5/s --include permanent --url`),
    )
  })

  it('runs the plan that was read, or nothing: somebody who was quicker is told of', async () => {
    const service = await aService()
    const { client, url } = service
    await deadLetters(service, ['503'])
    const words = ['replay', 'plan', '--destination', url, '--json']
    const { replayId } = JSON.parse((await service.inPipe(words)).stdout) as Replay
    const slow = await aWayTo(url, ({ method }) => method === 'POST' && client.replays.cancel(replayId))
    const { exitCode, stdout, stderr } = await type(['replay', 'run', replayId, '--url', slow])
    assert.deepEqual([exitCode, stdout], [5, ''])
    assert.match(stderr, /^error version-changed {2}somebody else was quicker\n/)
    assert.match(
      stderr,
      /It was PLANNED when it was read, and is CANCELLED by now\. It was cancelled; 1 has stayed dead\./,
    )
    assert.match(stderr, new RegExp(`do {3}secondwind replay status ${replayId} --url`))
  })

  it('says beside its bar what holds it, while it stands still', async () => {
    const service = await aService()
    const { client, url, inPipe } = service
    await deadLetters(service, MENDED)
    await client.destinations.pause(url, { reason: 'INC-2231' })
    const planned = await inPipe(['replay', 'plan', '--destination', url, '--json'])
    const { replayId } = JSON.parse(planned.stdout) as Replay
    let looks = 0
    // Once it has been looked at a few times, a second apart, its bar has been drawn.
    const way = await aWayTo(url, async request => {
      if (request.url === `/replays/${replayId}` && ++looks === 4) await client.replays.cancel(replayId)
    })
    const { stderr } = await type(['replay', 'run', replayId, '--url', way])
    assert.match(stderr, /0\/4 {3}\d+ s so far {3}held by paused: INC-2231/)
  })

  it('is followed on when the service is away for a moment, and that is said', async () => {
    const service = await aService()
    const { url, client, inPipe } = service
    await deadLetters(service, MENDED)
    const planned = await inPipe(['replay', 'plan', '--destination', url, '--rate', '2/s', '--json'])
    const { replayId } = JSON.parse(planned.stdout) as Replay
    let [isRun, refusals] = [false, 0]
    const way = await aWayTo(url, ({ method }) => {
      if (isRun && refusals++ < 5) throw new Error('it is being restarted')
      isRun ||= method === 'POST'
    })
    const { exitCode, stderr } = await type(['replay', 'run', replayId, '--url', way])
    assert.match(
      stderr,
      /no answer since \d\d:\d\d:\d\dZ: waiting for the service to come back\n[^]*it answers again\n/,
    )
    assert.equal(exitCode, 0, stderr)
    assert.equal((await client.replays.get(replayId)).status, 'FINISHED')
  })

  it('says which pause holds it, and how to end that', async () => {
    const service = await aService()
    const { client, url, inPipe, atTerminal } = service
    await deadLetters(service, MENDED)
    await client.destinations.pause(url, { reason: 'INC-2231', forMs: 1_800_000 })
    const planned = await inPipe(['replay', 'plan', '--destination', url, '--json'])
    const { replayId } = JSON.parse(planned.stdout) as Replay
    await client.replays.run(replayId)
    const { stdout, stderr } = await atTerminal(['replay', 'status', replayId])
    assert.match(
      stdout.replaceAll(/\s+/g, ' '),
      new RegExp(`It goes on: 0 of 4 sent.* ${url} is held by paused, for another \\S+ min: INC-2231\\.`),
    )
    assert.match(stderr, new RegExp(`secondwind resume ${url} --ramp 5min`))
    const listed = async (status: string): Promise<string> =>
      (await inPipe(['replay', 'list', '--status', status, '--ids'])).stdout
    assert.deepEqual([await listed('CANCELLED'), await listed('canary')], ['', `${replayId}\n`])
    const watched = inPipe(['replay', 'status', replayId, '--watch', '--json'])
    await client.destinations.resume(url)
    assert.equal((JSON.parse((await watched).stdout) as Replay).status, 'FINISHED')
  })

  it('refuses an empty filter, and asks before it cancels', async () => {
    const service = await aService()
    const empty = await service.inPipe(['replay', 'plan'])
    assert.equal(empty.exitCode, 2, empty.stderr)
    await deadLetters(service, ['503'])
    const planned = await service.inPipe(['replay', 'plan', '--destination', service.url, '--json'])
    const { replayId } = JSON.parse(planned.stdout) as Replay
    assert.equal((await service.inPipe(['replay', 'cancel', replayId])).exitCode, 2)
    const cancelled = await service.atTerminal(['replay', 'cancel', replayId], { answers: ['yes'] })
    assert.match(cancelled.stdout, /CANCELLED\n[^]*It was cancelled; 1 has stayed dead\./)
    assert.equal(
      (await service.inPipe(['replay', 'cancel', replayId])).exitCode,
      0,
      'what has ended is not asked about',
    )
    assert.equal((await service.inPipe(['replay', 'run', replayId])).exitCode, 5)
    assert.equal((await service.inPipe(['replay', 'status', replayId])).exitCode, 0)
  })

  it('is refused where it would mean every dead letter, in words of the command line', async () => {
    const { inPipe } = await aService()
    const { exitCode, stderr } = await inPipe(['replay', 'plan'])
    assert.equal(exitCode, 2)
    assert.match(stderr, /^error missing-option {2}a plan must say which dead letters/)
    assert.match(stderr, /do {3}secondwind dead causes --url/)
  })
})
