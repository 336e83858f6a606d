import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { createBreaker } from '../breaker/run.ts'
import { createBudget } from '../budget/run.ts'
import { permanent } from '../classify/marks.ts'
import { pipeline } from '../pipeline/run.ts'
import { observe } from '../retry/report.ts'
import { GIVE_UP_REASONS } from '../retry/decide.ts'
import type { RetryOptions } from '../retry/options.ts'
import { retry } from '../retry/run.ts'
import { outcomeOf, reset, scripted, STEADY } from '../retry/scripted.test-kit.ts'
import { virtualClock } from '../testing/index.ts'
import { createCollector, type CollectorOptions } from './collector.ts'
import { askPromtool, parseExposition, valueOf } from './exposition.test-kit.ts'
import { count, emptySeries, type EventOfOperation } from './series.ts'

/** Work that follows a script, told to a collector. */
async function play(options: RetryOptions, ...steps: readonly unknown[]): Promise<void> {
  const { work, clock, ports } = scripted(...steps)
  await outcomeOf(clock, retry(work, STEADY, { ports, ...options }))
}

const event = (name: string): EventOfOperation => ({ kind: 'attempt-started', name, operationId: 1, attempt: 1 })

describe('a collector', () => {
  it('counts a call that fails twice and then succeeds, to the letter', async () => {
    const collector = createCollector({ client: 'shop' })
    await play({ name: 'stock', telemetry: collector.telemetry }, reset(), reset(), 'seven')
    assert.equal(
      collector.metrics(),
      `# HELP retry_attempts_total Calls made, first attempts and retries.
# TYPE retry_attempts_total counter
retry_attempts_total{client="shop",op="stock"} 3
# HELP retry_retries_total Calls made again.
# TYPE retry_retries_total counter
retry_retries_total{client="shop",op="stock"} 2
# HELP retry_successes_total Operations that succeeded.
# TYPE retry_successes_total counter
retry_successes_total{client="shop",op="stock"} 1
# HELP retry_budget_denied_total Operations that ended because the retry budget was empty.
# TYPE retry_budget_denied_total counter
retry_budget_denied_total{client="shop",op="stock"} 0
# HELP retry_breaker_denied_total Operations that ended because the breaker was open.
# TYPE retry_breaker_denied_total counter
retry_breaker_denied_total{client="shop",op="stock"} 0
# HELP retry_cancelled_total Operations that their caller aborted.
# TYPE retry_cancelled_total counter
retry_cancelled_total{client="shop",op="stock"} 0
# HELP retry_attempt_at_success The attempt that succeeded; the first is 1.
# TYPE retry_attempt_at_success histogram
${lines('retry_attempt_at_success', '1 0, 2 0, 3 1, 4 1, 5 1, 7 1, 10 1, 15 1, +Inf 1', 3)}
# HELP retry_delay_seconds Waits between attempts, as decided.
# TYPE retry_delay_seconds histogram
${lines('retry_delay_seconds', `0.005 0, 0.01 0, 0.025 0, 0.05 0, 0.1 1, 0.25 2, 0.5 2, 1 2, ${from(2.5, 2)}`, 0.30000000000000004)}
# HELP retry_attempt_duration_seconds How long attempts took.
# TYPE retry_attempt_duration_seconds histogram
${lines('retry_attempt_duration_seconds', `0.005 3, 0.01 3, 0.025 3, 0.05 3, 0.1 3, 0.25 3, 0.5 3, 1 3, ${from(2.5, 3)}`, 0)}
# HELP retry_operation_duration_seconds How long operations took, waits included.
# TYPE retry_operation_duration_seconds histogram
${lines('retry_operation_duration_seconds', `0.005 0, 0.01 0, 0.025 0, 0.05 0, 0.1 0, 0.25 0, 0.5 1, 1 1, ${from(2.5, 1)}`, 0.3)}
`,
    )
  })

  it('counts what was given up by its reason, and denials and cancellations once more by themselves', async () => {
    const collector = createCollector()
    const { telemetry } = collector
    const breaker = createBreaker()
    breaker.forceOpen()
    await play({ telemetry }, reset())
    await play({ telemetry }, permanent(new Error('no')))
    await play({ telemetry, breaker }, 'never asked')
    await play({ telemetry, signal: AbortSignal.abort() }, 'never asked')
    await play({ telemetry, budget: { deposit() {}, tryWithdraw: () => false, balance: 0 } }, reset())
    const text = collector.metrics()
    const giveups = parseExposition(text).filter(({ name }) => name === 'retry_giveups_total')
    assert.deepEqual(
      giveups.map(({ labels, value }) => [labels, value]),
      ['attempts', 'permanent', 'breaker-open', 'aborted', 'budget'].map(reason => [
        { client: 'default', op: 'retry', reason },
        1,
      ]),
    )
    for (const name of ['retry_budget_denied_total', 'retry_breaker_denied_total', 'retry_cancelled_total'])
      assert.equal(valueOf(text, name), 1, name)
    assert.equal(valueOf(text, 'retry_operation_duration_seconds_count'), 5)
  })

  it('counts every operation once, as a success or under a reason, whatever happens to it', async () => {
    const step = fc.constantFrom('value', reset(), permanent(new Error('no')), new Error('a bug'))
    const scripts = fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(scripts, async scripts => {
        const collector = createCollector()
        for (const script of scripts) await play({ telemetry: collector.telemetry }, ...script)
        const samples = parseExposition(collector.metrics())
        const sum = (metric: string): number =>
          samples.reduce((total, { name, value }) => total + (name === metric ? value : 0), 0)
        assert.equal(sum('retry_successes_total') + sum('retry_giveups_total'), scripts.length)
        assert.equal(sum('retry_attempts_total') - sum('retry_retries_total'), scripts.length)
        assert.equal(sum('retry_delay_seconds_count'), sum('retry_retries_total'))
        assert.equal(sum('retry_attempt_duration_seconds_count'), sum('retry_attempts_total'))
        assert.equal(sum('retry_attempt_at_success_count'), sum('retry_successes_total'))
        assert.equal(sum('retry_operation_duration_seconds_count'), scripts.length)
      }),
      { numRuns: 30 },
    )
  })

  it('puts a value that is the end of a bucket into it, and one beyond all of them into +Inf', () => {
    const series = emptySeries({ client: 'a', op: 'b' })
    const wait = (delayMs: number): void =>
      count(series, {
        ...event('b'),
        kind: 'retry-scheduled',
        delayMs,
        outcome: { kind: 'failure', fault: 'transient' },
      })
    for (const delayMs of [5, 6, 60_000, 60_001]) wait(delayMs)
    assert.deepEqual(series.histograms.retry_delay_seconds.counts, [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1])
  })

  it('hears the whole process, or single clients under their own names', async () => {
    const collector = createCollector({ client: 'shop' })
    const unobserve = observe(collector.telemetry)
    await play({ name: 'stock' }, 'value')
    unobserve()
    await play({ name: 'stock' }, 'value')
    await play({ name: 'charge', telemetry: collector.telemetryOf('payments') }, 'value')
    const attempts = parseExposition(collector.metrics()).filter(({ name }) => name === 'retry_attempts_total')
    assert.deepEqual(
      attempts.map(({ labels, value }) => [labels['client'], labels['op'], value]),
      [
        ['shop', 'stock', 1],
        ['payments', 'charge', 1],
      ],
    )
  })

  it('counts a pipeline under its own name, whoever hands over its events', async () => {
    const collector = createCollector({ client: 'shop' })
    const payments = pipeline({ name: 'payments', retry: {}, breaker: {}, telemetry: collector.telemetry })
    const { breaker, budget, limiter } = payments.partsOf()
    collector.watch({ client: 'payments', breaker, budget, limiter })
    await payments.run(() => 1, { name: 'charge' })
    const seen = parseExposition(collector.metrics())
    const { labels } = seen.find(({ name }) => name === 'retry_attempts_total')!
    assert.deepEqual([labels['client'], labels['op']], ['payments', 'charge'])
    assert.ok(seen.some(({ name, labels: { state } }) => name === 'retry_breaker_state' && state === 'closed'))
  })

  it('is silent before the first event, and after it was closed', async () => {
    const collector = createCollector()
    assert.equal(collector.metrics(), '')
    await play({ telemetry: collector.telemetry }, 'value')
    collector.watch({ budget: createBudget() })
    assert.notEqual(collector.metrics(), '')
    collector.close()
    await play({ telemetry: collector.telemetry }, 'value')
    collector.watch({ budget: createBudget() })
    assert.equal(collector.metrics(), '')
  })

  it('says which type its text is of', () => {
    assert.equal(createCollector().contentType, 'text/plain; version=0.0.4; charset=utf-8')
  })

  it('refuses options that it could not keep to', () => {
    assert.throws(
      () => createCollector({ client: '', maxLabelSets: 0, clinet: 'a' } as CollectorOptions),
      /createCollector cannot count like this:\n {2}client must be .*\n {2}maxLabelSets must be .*\n {2}clinet .* did you mean client\?/,
    )
  })
})

describe('names that come from users', () => {
  it('cannot make more series than were allowed: the rest is op="other"', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.string({ maxLength: 2 })), { maxLength: 60 }),
        fc.integer({ min: 1, max: 10 }),
        (calls, maxLabelSets) => {
          const collector = createCollector({ maxLabelSets })
          for (const [client, op] of calls) collector.telemetryOf(client)(event(op))
          const attempts = parseExposition(collector.metrics()).filter(({ name }) => name === 'retry_attempts_total')
          const others = attempts.filter(({ labels }) => labels['op'] === 'other')
          assert.ok(attempts.length - others.length <= maxLabelSets)
          assert.ok(others.length <= 4)
          assert.equal(
            attempts.reduce((sum, { value }) => sum + value, 0),
            calls.length,
          )
        },
      ),
    )
  })

  it('keep their client as long as it is known', () => {
    const collector = createCollector({ maxLabelSets: 2 })
    for (const [client, op] of ['a 1', 'b 1', 'a 2', 'a 3', 'c 1', 'b 1'].map(pair => pair.split(' ')))
      collector.telemetryOf(client!)(event(op!))
    const attempts = parseExposition(collector.metrics()).filter(({ name }) => name === 'retry_attempts_total')
    assert.deepEqual(
      attempts.map(({ labels, value }) => `${labels['client']} ${labels['op']}: ${value}`),
      ['a 1: 1', 'a other: 2', 'b 1: 2', 'other other: 1'],
    )
  })

  it('are told apart up to a hundred unless more are allowed', () => {
    const collector = createCollector()
    for (let op = 0; op < 200; op++) collector.telemetry(event(`op ${op}`))
    assert.equal(valueOf(collector.metrics(), 'retry_attempts_total', { op: 'op 99' }), 1)
    assert.equal(valueOf(collector.metrics(), 'retry_attempts_total', { op: 'other' }), 100)
  })

  it('are escaped, so that none ends its label, its line or the scrape', () => {
    const collector = createCollector({ client: '\\"\n' })
    const hostile = '"} 1\nretry_attempts_total{op="\\'
    collector.telemetry(event(hostile))
    const [first] = parseExposition(collector.metrics())
    assert.deepEqual([first!.labels, first!.value], [{ client: '\\"\n', op: hostile }, 1])
  })

  it('are cut after a hundred characters, and rid of what cannot be printed', () => {
    const collector = createCollector()
    collector.telemetry(event('x'.repeat(100_000)))
    collector.telemetry(event('\u0000\r\u009F \uD800'))
    const ops = parseExposition(collector.metrics()).flatMap(({ name, labels }) =>
      name === 'retry_attempts_total' ? [labels['op']] : [],
    )
    assert.deepEqual(ops, ['x'.repeat(100), '\uFFFD\uFFFD\uFFFD \uFFFD'])
  })

  it('never spoil the text, whatever they are', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 110 })), names => {
        const collector = createCollector()
        for (const name of names) {
          collector.telemetryOf(name)(event(name))
          collector.watch({ client: name, breaker: createBreaker() })
        }
        parseExposition(collector.metrics())
      }),
      { numRuns: 50 },
    )
  })
})

describe('what a collector watches', () => {
  it('is shown as it is at each scrape, until it is let go', async () => {
    const clock = virtualClock()
    const collector = createCollector({ client: 'shop' })
    const budget = createBudget({ kind: 'rate', perSecond: 1, burst: 3 }, { clock })
    const breaker = createBreaker({}, { clock })
    const unwatch = collector.watch({ budget, breaker, limiter: { limit: 20 } })
    const stateOf = (state: string): number | undefined =>
      valueOf(collector.metrics(), 'retry_breaker_state', { client: 'shop', state })

    assert.equal(valueOf(collector.metrics(), 'retry_budget_balance', { client: 'shop' }), 3)
    assert.equal(valueOf(collector.metrics(), 'retry_concurrency_limit', { client: 'shop' }), 20)
    assert.deepEqual(['closed', 'open', 'half-open', 'forced-open', 'forced-closed'].map(stateOf), [1, 0, 0, 0, 0])

    budget.tryWithdraw('transient')
    breaker.forceOpen()
    assert.equal(valueOf(collector.metrics(), 'retry_budget_balance'), 2)
    assert.deepEqual(['closed', 'open', 'half-open', 'forced-open', 'forced-closed'].map(stateOf), [0, 0, 0, 1, 0])

    unwatch()
    assert.equal(collector.metrics(), '')
  })

  it('is added up where one client has several: so many breakers are open', () => {
    const collector = createCollector()
    const [up, down] = [createBreaker(), createBreaker()]
    down.forceOpen()
    for (const breaker of [up, down, up]) collector.watch({ client: 'shop', breaker })
    collector.watch({ client: 'payments', breaker: down, limiter: { limit: 7 } })
    collector.watch({ client: 'payments', limiter: { limit: 5 } })
    const text = collector.metrics()
    assert.equal(valueOf(text, 'retry_breaker_state', { client: 'shop', state: 'closed' }), 2)
    assert.equal(valueOf(text, 'retry_breaker_state', { client: 'shop', state: 'forced-open' }), 1)
    assert.equal(valueOf(text, 'retry_breaker_state', { client: 'payments', state: 'closed' }), 0)
    assert.equal(valueOf(text, 'retry_concurrency_limit'), 12)
  })

  it('has as many clients as are allowed; the rest is added up', () => {
    const collector = createCollector({ maxLabelSets: 2 })
    for (const client of ['a', 'b', 'c', 'd', 'a']) collector.watch({ client, limiter: { limit: 1 } })
    assert.deepEqual(
      parseExposition(collector.metrics()).map(({ labels, value }) => [labels['client'], value]),
      [
        ['a', 2],
        ['b', 1],
        ['other', 2],
      ],
    )
  })

  it('may have no end', () => {
    const collector = createCollector()
    collector.watch({ budget: { balance: Infinity }, limiter: { limit: NaN } })
    collector.watch({ client: 'b', budget: { balance: -Infinity } })
    assert.match(collector.metrics(), /retry_budget_balance\{client="default"\} \+Inf\n.*"b"\} -Inf\n/)
    assert.match(collector.metrics(), /retry_concurrency_limit\{client="default"\} NaN\n/)
  })
})

describe('the text', () => {
  const full = async (): Promise<string> => {
    const collector = createCollector({ client: 'shop' })
    const { telemetry } = collector
    await play({ name: 'stock', telemetry }, reset(), 'value')
    await play({ name: 'stock', telemetry }, reset())
    for (const [at, reason] of GIVE_UP_REASONS.entries())
      telemetry({ ...event(`"${at}"\n\\`), kind: 'gave-up', reason, elapsedMs: 1e9, error: undefined })
    collector.watch({ budget: createBudget(), breaker: createBreaker(), limiter: { limit: 20 } })
    return collector.metrics()
  }

  const hasPromtool = askPromtool('') !== undefined
  it(`passes ${hasPromtool ? 'promtool check metrics' : 'a strict parser (there is no promtool on this machine)'}`, async () => {
    const text = await full()
    if (hasPromtool) assert.equal(askPromtool(text), '')
    assert.equal(new Set(parseExposition(text).map(({ name }) => name.replace(/_(bucket|sum|count)$/, ''))).size, 14)
  })

  it('can be put after that of another registry', async () => {
    const other =
      '# HELP process_cpu_seconds_total Time.\n# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 1\n'
    const own = await full()
    assert.equal(parseExposition(other + own).length, 1 + parseExposition(own).length)
  })
})

/** The lines of a histogram whose buckets are given as `end count`. */
function lines(name: string, buckets: string, sum: number): string {
  const labels = 'client="shop",op="stock"'
  const pairs = buckets.split(', ').map(pair => pair.split(' '))
  return [
    ...pairs.map(([end, count]) => `${name}_bucket{${labels},le="${end}"} ${count}`),
    `${name}_sum{${labels}} ${sum}`,
    `${name}_count{${labels}} ${pairs.at(-1)![1]}`,
  ].join('\n')
}

/** Buckets of seconds from one on, all of them with the same count. */
function from(end: number, count: number): string {
  const ends = [2.5, 5, 10, 30, 60].filter(other => other >= end)
  return [...ends, '+Inf'].map(end => `${end} ${count}`).join(', ')
}
