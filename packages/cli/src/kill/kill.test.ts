import type { Control } from '@secondwind/client'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { atTerminal as type } from '../command-line.test-kit.ts'
import { aService, aWayTo } from '../remote/service.test-kit.ts'

const ON = ['kill', 'on', '--level', 'dispatch-off', '--reason', 'INC-2231', '--for', '30min']

describe('the kill switch', () => {
  it('says what it would hold before it is thrown, asks, and holds it; off again, all comes back', async () => {
    const { aTask, client, url, atTerminal, inPipe } = await aService()
    const waiting = await aTask('200', { delayMs: 1_500 })
    const tried = await atTerminal([...ON, '--dry-run'])
    assert.match(
      tried.stdout,
      /^dispatch-off for everything, until \S+, in 30 min \(INC-2231\)[^]*holds (?:up to )?1 task of 1\s+destination;[^]*Nothing was changed\.\n$/,
    )
    assert.equal((await inPipe(['kill', 'status', '--ids'])).stdout, '')
    assert.equal((await inPipe(ON)).exitCode, 2)
    const on = await atTerminal([...ON, '--scope', `destination=${url}`], { answers: ['yes'] })
    assert.deepEqual([on.exitCode, on.questions], [0, ['switch on dispatch-off? (yes/no) ']], on.stderr)
    const status = await inPipe(['kill', 'status', '--json'])
    const [control] = (JSON.parse(status.stdout) as { items: readonly Control[] }).items
    assert.deepEqual([control?.scope, control?.isInForce], [{ kind: 'destination', destination: url }, true])
    const off = await atTerminal(['kill', 'off', '--reason', 'over'])
    assert.match(off.stdout, /^ended dispatch-off for http\S+\s+\([^)]+\)\s/)
    assert.equal((await client.waitFor(waiting.taskId)).status, 'SUCCEEDED')
    const again = await atTerminal(['kill', 'off'])
    assert.match(again.stderr, /^error nothing-to-end {2}no kill switch is on/)
    assert.equal(again.exitCode, 5)
  })

  it('is thrown for a destination that nothing was ever sent to, and says first which was perhaps meant', async () => {
    const { aTask, client, url, atTerminal } = await aService()
    await client.waitFor((await aTask('200')).taskId)
    const slip = url.replace('http:', 'https:')
    const words = (origin: string): string[] => [...ON, '--scope', `destination=${origin}`]
    for (const more of [['--dry-run'], ['--yes']]) {
      const { exitCode, stderr } = await atTerminal([...words(slip), ...more])
      assert.equal(exitCode, 0, stderr)
      assert.ok(stderr.startsWith(`nothing was ever sent to ${slip}; did you mean ${url}?\n`), stderr)
      assert.ok(stderr.includes(`\ntry  secondwind ${[...words(url), ...more].join(' ')} `), stderr)
    }
    assert.doesNotMatch((await atTerminal([...words(url), '--dry-run'])).stderr, /ever sent|try/)
  })

  it('ends what was on when it was read, and claims no end that was somebody else’s', async () => {
    const { client, url, atTerminal } = await aService()
    const { controlId } = await client.controls.create({ level: 'retries-off', scope: { kind: 'all' }, reason: 'x' })
    const slow = await aWayTo(url, ({ method }) => method === 'DELETE' && client.controls.end(controlId))
    const late = await type(['kill', 'off', '--url', slow])
    for (const { exitCode, stdout, stderr } of [late, await atTerminal(['kill', 'off', controlId])]) {
      assert.deepEqual([exitCode, stdout], [5, ''])
      assert.match(stderr, /^error nothing-to-end {2}this kill switch is off already\n/)
      assert.match(stderr, /retries-off for everything: ended .*, by local\.\n {2}Nothing was changed\.\n/)
      assert.match(stderr, /do {3}secondwind kill status --url/)
    }
  })

  it('ends none of several unasked: each is listed, with the line that ends it', async () => {
    const { client, url, atTerminal } = await aService()
    const one = await client.controls.create({ level: 'retries-off', scope: { kind: 'all' }, reason: 'INC-1' })
    const scope = { kind: 'destination', destination: url } as const
    const other = await client.controls.create({ level: 'dispatch-off', scope, reason: 'INC-2' })
    const { exitCode, stderr } = await atTerminal(['kill', 'off'])
    assert.equal(exitCode, 2)
    assert.match(stderr, /^error several-switches {2}several kill switches are on: say which one to end\n/)
    assert.ok(
      stderr.includes(`\n  ${one.controlId}: retries-off for everything, until somebody ends it (INC-1)\n`),
      stderr,
    )
    assert.ok(
      stderr.includes(`\n  ${other.controlId}: dispatch-off for ${url}, until somebody ends it (INC-2)\n`),
      stderr,
    )
    for (const { controlId } of [one, other])
      assert.ok(stderr.includes(`secondwind kill off ${controlId} --url`), stderr)
    assert.equal((await client.controls.list().page()).items.length, 2)
  })

  it('says of intake-off that what waits goes out, and holds nothing', async () => {
    const { aTask, client, atTerminal } = await aService()
    const waiting = await aTask('200', { delayMs: 500 })
    const on = await atTerminal(['kill', 'on', '--level', 'intake-off', '--reason', 'the disk is full', '--yes'])
    assert.match(
      on.stderr.replaceAll(/\s+/g, ' '),
      /^intake-off for everything, .*: no task is taken in, and what waits goes out holds nothing;/,
    )
    await assert.rejects(aTask('200'), { code: 'intake-off' })
    assert.equal((await client.waitFor(waiting.taskId)).status, 'SUCCEEDED')
    assert.match((await atTerminal(['kill', 'off'])).stdout, /\nTasks are taken in again\.\n$/)
  })

  it('shows what it will hold once, and then that it is on', async () => {
    const { atTerminal } = await aService()
    const { stdout, stderr } = await atTerminal([...ON, '--yes'])
    assert.equal(`${stderr}${stdout}`.match(/^holds /gm)?.length, 1)
    assert.match(stdout, /^switched on \S+: dispatch-off for everything,\nuntil \S+, in 30 min\n\nIt is in force/)
  })

  it.each([60, 80, 140])(
    'tells by status, at %i columns, what is off, why, by whom, until when, and its id',
    async columns => {
      const { atTerminal, client, inPipe } = await aService()
      await atTerminal([...ON, '--yes'])
      const { items } = await client.controls.list().page()
      const [{ controlId }] = items as [Control]
      const { stdout, stderr } = await atTerminal(['kill', 'status'], { columns })
      assert.match(
        stdout,
        new RegExp(
          `^dispatch-off for everything\n +why +INC-2231\n +by +local, .*\n +end +until .*, in 30 min\n +id +${controlId}\n$`,
        ),
      )
      assert.match(stderr, new RegExp(`try {2}secondwind kill off ${controlId}`))
      await inPipe(['kill', 'off'])
      assert.equal((await atTerminal(['kill', 'status'])).stdout, 'No kill switch is on.\n')
      assert.match(
        (await atTerminal(['kill', 'status', '--ended'])).stdout,
        /end +ended .* ago, by local\n|end +ended .*now, by local\n/,
      )
    },
  )

  it('fits the terminal, before it is on and after', async () => {
    const { atTerminal } = await aService()
    const words = ['kill', 'on', '--level', 'dispatch-off', '--for', '30min', '--reason', 'INC-2231 payments are down']
    const { stdout, stderr } = await atTerminal(words, { columns: 60, answers: ['yes'] })
    for (const line of [...stdout.split('\n'), ...stderr.split('\n')])
      assert.ok(line.length <= 60 || line.includes('secondwind kill off'), line)
  })

  it('needs a reason, and for intake-off its own name typed', async () => {
    const { atTerminal, inPipe } = await aService()
    const bare = await inPipe(['kill', 'on', '--yes'])
    assert.deepEqual([bare.exitCode, bare.stderr.includes('add  --reason <text>')], [2, true])
    const words = ['kill', 'on', '--level', 'intake-off', '--reason', 'the disk is full']
    const habit = await atTerminal(words, { answers: ['yes'] })
    assert.deepEqual([habit.exitCode, habit.questions], [2, ['switch on intake-off? (type intake-off) ']])
    assert.match(
      habit.stderr,
      /error not-confirmed {2}to switch on intake-off needs the word intake-off, typed in full\n\n {2}The answer was "y/,
    )
    assert.equal((await atTerminal(words, { answers: ['intake-off'] })).exitCode, 0)
    const wrong = ['--scope', 'planet', '--for', '1min', '--until', '2h', '--ramp', 'x', '--reason', 'x', '--yes']
    const { stderr, exitCode } = await inPipe(['kill', 'on', ...wrong])
    assert.equal(exitCode, 2)
    assert.match(stderr, /--for must not stand beside --until[^]*--scope must be all[^]*--ramp must be a duration/)
  })
})
