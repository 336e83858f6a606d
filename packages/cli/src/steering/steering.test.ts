import type { Destination } from '@secondwind/client'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { aService } from '../remote/service.test-kit.ts'

const COUNTS = 'counts such as first=5,retry=10, of first, retry, late'

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ')

describe('pause and resume', () => {
  it('hold every task of a destination and drop none, and let them go again', async () => {
    const { url, aTask, client, atTerminal, inPipe } = await aService()
    await client.waitFor((await aTask('200')).taskId)
    const paused = await atTerminal(['pause', url, '--for', '30min', '--reason', 'INC-2231'])
    assert.equal(paused.exitCode, 0, paused.stderr)
    assert.match(
      oneLine(paused.stdout),
      /paused until \S+, in 30 min; since .*, by local: INC-2231 .* nothing is dropped/,
    )
    assert.match(paused.stderr, new RegExp(`secondwind resume ${url} --ramp 5min --stop-on-failure-rate 20%`))
    const { taskId } = await aTask('200')
    const { hold } = JSON.parse((await inPipe(['tasks', 'explain', taskId, '--json'])).stdout) as Pick<
      Destination,
      'hold'
    >
    assert.deepEqual([hold?.reason, (await client.tasks.get(taskId)).attemptNumber], ['paused', 0])
    const resumed = await atTerminal(['resume', url, '--stop-on-failure-rate', '20%'])
    assert.match(oneLine(resumed.stdout), /is resumed, .* 1 task waits\./)
    assert.equal((await client.waitFor(taskId)).status, 'SUCCEEDED')
  })

  it('do nothing for a time without its unit, and ask for it', async () => {
    const { url, client, inPipe } = await aService()
    const { exitCode, stderr } = await inPipe(['pause', url, '--for', '30', '--ramp', '5', '--until', '3'])
    assert.equal(exitCode, 2)
    assert.match(stderr, /--for must be a duration with its unit: 30s or 30min, say \(is "30"\)/)
    assert.match(stderr, /--ramp must be a duration with its unit: 5s or 5min/)
    assert.match(stderr, /--until must be a time such as 2h/)
    assert.equal((await client.destinations.get(url)).hold, undefined)
  })

  it('say that a ramp bounds requests at once, and how to bound their rate where nothing does', async () => {
    const { url, aTask, client, atTerminal } = await aService()
    await client.waitFor((await aTask('200')).taskId)
    await client.destinations.pause(url)
    const unbounded = await atTerminal(['resume', url, '--ramp', '5min'])
    assert.match(oneLine(unbounded.stdout), /within 5 min: .* under way at once, not how many a second/)
    assert.match(unbounded.stderr, new RegExp(`secondwind destinations limits ${url} --rate 20/s`))
    await client.destinations.put(url, { limits: { rateLimit: { perSecond: 50 } } })
    const bounded = await atTerminal(['resume', url, '--ramp', '5min'])
    assert.doesNotMatch(bounded.stdout + bounded.stderr, /a second|--rate/)
  })

  it('change nothing where nothing is paused, and say so: no ramp slows down what goes well', async () => {
    const { url, aTask, client, inPipe } = await aService()
    await client.waitFor((await aTask('200')).taskId)
    const { stdout, stderr } = await inPipe(['resume', url, '--ramp', '5min'])
    assert.match(oneLine(stdout + stderr), /is not paused\. Nothing was changed\./)
    const { settings, limit } = await client.destinations.get(url)
    assert.deepEqual([settings, limit], [undefined, 100])
  })

  it('are obeyed in advance, and say that nothing was ever sent there, and what was perhaps meant', async () => {
    const { url, aTask, client, inPipe } = await aService()
    await client.waitFor((await aTask('200')).taskId)
    const slip = `${url.slice(0, -1)}${url.endsWith('9') ? '8' : '9'}`
    const paused = await inPipe(['pause', slip, '--for', '30min'])
    assert.equal(paused.exitCode, 0)
    assert.match(paused.stderr, new RegExp(`^nothing was ever sent to ${slip}; did you mean ${url}\\?\n`))
    assert.match(paused.stderr, new RegExp(`try {2}secondwind pause ${url} --for 30min --url`))
    assert.ok((await client.destinations.get(slip)).settings?.paused !== undefined)
    const stranger = await inPipe(['pause', 'https://elsewhere.test'])
    assert.match(stranger.stderr, /^nothing was ever sent to https:\/\/elsewhere\.test\n/)
    assert.doesNotMatch((await inPipe(['pause', url])).stderr, /nothing was ever sent/)
  })

  it('have a breaker beside them, which is set by hand or opens and closes by itself', async () => {
    const { atTerminal, url } = await aService()
    const saidOf = async (state: string): Promise<string> =>
      oneLine((await atTerminal(['destinations', 'breaker', url, '--set', state])).stdout)
    assert.match(await saidOf('closed'), /The breaker of \S+ is closed, by hand\. .* wait for no answers, .*\. $/)
    assert.match(
      await saidOf('auto'),
      /The breaker of \S+ opens and closes by itself again\. .* one request at a time first, .*\. $/,
    )
  })

  it('refuse a destination that nobody knows, and a share that is none', async () => {
    const { inPipe, url } = await aService()
    const nobody = await inPipe(['pause', 'nobody'])
    assert.equal(nobody.exitCode, 3)
    assert.match(nobody.stderr, /nobody is no name of a destination; say its origin, such as https:\/\/api\.example\n/)
    const unflagged = await inPipe(['destinations', 'breaker', url, 'closed'])
    assert.equal(unflagged.exitCode, 2)
    assert.match(unflagged.stderr, /Did you mean --set closed\?/)
    assert.ok(unflagged.stderr.includes(`do   secondwind destinations breaker ${url} --set closed --url ${url}\n`))
    const wrong = await inPipe(['resume', url, '--stop-on-failure-rate', '120%'])
    assert.match(wrong.stderr, /--stop-on-failure-rate must be a share such as 20% or 0\.2/)
  })
})

describe('a destination', () => {
  it('gets a name and limits; what is not given stays as it is', async () => {
    const { url, aTask, client, inPipe } = await aService()
    await client.waitFor((await aTask('200')).taskId)
    const named = await inPipe(['destinations', 'limits', url, '--name', 'payments', '--concurrency', '20', '--json'])
    assert.equal(named.exitCode, 0, named.stderr)
    const rated = await inPipe(['destinations', 'limits', 'payments', '--rate', '50/s', '--json'])
    const { name, settings } = JSON.parse(rated.stdout) as Destination
    assert.deepEqual([name, settings?.limits], ['payments', { concurrency: 20, rateLimit: { perSecond: 50 } }])
  })

  it('loses its name by the word none, which is no name, and keeps its limits', async () => {
    const { url, aTask, client, inPipe } = await aService()
    await client.waitFor((await aTask('200')).taskId)
    await inPipe(['destinations', 'limits', url, '--name', 'payments', '--concurrency', '20'])
    const { exitCode, stderr } = await inPipe(['destinations', 'limits', 'payments', '--name', 'none'])
    assert.equal(exitCode, 0, stderr)
    const { name, settings } = await client.destinations.get(url)
    assert.deepEqual([name, settings?.limits], [undefined, { concurrency: 20 }])
  })

  it('is shown with its limits when none is named, and loses each by the word none; nothing else changes', async () => {
    const { url, aTask, client, atTerminal, inPipe } = await aService()
    await client.waitFor((await aTask('200')).taskId)
    const type = (...flags: string[]) => inPipe(['destinations', 'limits', url, ...flags])
    await type(
      '--name',
      'payments',
      '--rate',
      '20/s',
      '--concurrency',
      '5',
      '--probe-min',
      '5s',
      '--credit-most',
      'first=5',
      '--retry-budget',
      '5%',
    )
    const before = await client.destinations.get(url)
    const shown = await atTerminal(['destinations', 'limits', 'payments'])
    assert.match(
      oneLine(shown.stdout),
      /payments is limited: 5 at once, 20\/s, credit first 5, probes at least 5 s apart, retries 5 % .*Besides, as for every destination: credit retry 60 · late 20, an answer adds first 3 · retry 4 · late 2, probes after 5 % of the time without credit, at most 1 min apart\./,
    )
    assert.match(shown.stderr, /--concurrency none --rate none --credit-most none --probe-min none --retry-budget none/)
    assert.deepEqual((await client.destinations.get(url)).settings, before.settings, 'nothing was written')
    assert.match((await inPipe(['doctor'])).stdout, /is limited: 5 at once, 20\/s/)
    assert.equal((await type('--rate', 'none', '--retry-budget', 'none')).exitCode, 0)
    const { name, settings } = await client.destinations.get(url)
    assert.deepEqual(
      [name, settings?.limits],
      ['payments', { concurrency: 5, credit: { most: { first: 5 }, probeMinMs: 5_000 } }],
    )
    await type('--concurrency', 'none', '--credit-most', 'none', '--probe-min', 'none')
    const after = await client.destinations.get(url)
    assert.deepEqual([after.name, after.settings?.limits, after.settings?.limitsBy], ['payments', undefined, undefined])
    assert.match(
      oneLine((await type()).stdout),
      /those of every destination hold: 100 at once, credit first 20 · retry 60 · late 20, an answer adds first 3 · retry 4 · late 2, probes after 5 % of the time without credit, at least 1 s apart, at most 1 min apart\./,
    )
    assert.match(
      (await type('--rate', 'off')).stderr,
      /--rate must be a rate such as 300\/s; or none, which takes it off/,
    )
  })

  it('gets credit and a retry budget of its own, field by field', async () => {
    const { url, aTask, client, inPipe } = await aService()
    await client.waitFor((await aTask('200')).taskId)
    const limitsAfter = async (...flags: string[]): Promise<unknown> => {
      const { stdout, stderr, exitCode } = await inPipe(['destinations', 'limits', url, ...flags, '--json'])
      assert.equal(exitCode, 0, stderr)
      return (JSON.parse(stdout) as Destination).settings?.limits
    }
    // Each by the rule that the service asks.
    const rules = [
      ['--credit-most', 'first=0', `${COUNTS}, each a whole number from 1 to 1000000`],
      ['--credit-per-answer', 'frist=3', COUNTS],
      ['--probe-share', '0%', 'a number from 0.001 to 1'],
      ['--probe-min', '10ms', 'a duration such as 250ms, 30s, 5min or 24h, from 100 to 86400000 ms'],
      ['--concurrency', 'many', 'a whole number from 1 to 1000000'],
      ['--min-retries', '0', '1 or more: without new tasks retries would wait for ever'],
    ] as const
    const refused = await inPipe([
      'destinations',
      'limits',
      url,
      ...rules.flatMap(([flag, is]) => [flag, is]),
      '--json',
    ])
    const { problems } = JSON.parse(refused.stderr).error as { problems: readonly { at: string; say: string }[] }
    assert.deepEqual(
      new Map(problems.map(({ at, say }) => [at, say])),
      new Map(rules.map(([flag, , must]) => [flag, `must be ${must}; or none, which takes it off`])),
    )
    await limitsAfter('--credit-most', 'first=5,retry=10', '--probe-max', '30s')
    const ratio = { kind: 'ratio', ratio: 0.05, windowMs: 10_000, minRetries: 7 }
    assert.deepEqual(await limitsAfter('--credit-most', 'retry=8', '--retry-budget', '5%', '--min-retries', '7'), {
      credit: { most: { first: 5, retry: 8 }, probeMaxMs: 30_000 },
      budget: ratio,
    })
    const { budget } = (await limitsAfter('--retry-budget', '5/s')) as { budget: unknown }
    assert.deepEqual(budget, { kind: 'rate', perSecond: 5, burst: 5 })
    const wrong = await inPipe(['destinations', 'limits', url, '--retry-budget', 'much'])
    assert.match(wrong.stderr, /--retry-budget must be a part such as 10%, or a rate such as 5\/s/)
  })

  it('is drained, and its breaker set by hand, until that is undone', async () => {
    const { url, aTask, client, atTerminal, inPipe } = await aService()
    await client.waitFor((await aTask('200')).taskId)
    const settingsAfter = async (...words: string[]): Promise<Destination['settings']> => {
      const { stdout, stderr } = await inPipe([...words, '--json'])
      assert.equal(stderr, '')
      return (JSON.parse(stdout) as Destination).settings
    }
    assert.ok((await settingsAfter('destinations', 'drain', url))?.draining)
    assert.equal((await inPipe(['tasks', 'submit', `${url}/_flaky/200`])).exitCode, 7)
    assert.equal((await settingsAfter('destinations', 'undrain', url))?.draining, undefined)
    const open = await settingsAfter('destinations', 'breaker', url, '--set', 'open', '--reason', 'INC-2231')
    assert.deepEqual([open?.forced?.breaker, open?.forced?.reason], ['open', 'INC-2231'])
    const page = await atTerminal(['destinations', 'get', url])
    assert.match(page.stdout, /\n {2}breaker by hand {2}open, since /)
    assert.match(page.stderr, new RegExp(`try {2}secondwind destinations breaker ${url} --set auto`))
    assert.notEqual((await settingsAfter('destinations', 'breaker', url, '--set', 'auto'))?.forced?.breaker, 'open')
    const closed = await atTerminal(['destinations', 'breaker', url, '--set', 'closed'])
    assert.match(closed.stderr, new RegExp(`try {2}secondwind destinations breaker ${url} --set auto`))
  })
})
