import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { GIVE_UP_REASONS } from '@secondwind/resilience'
import { describe, it } from 'vitest'
import { HOLD_REASONS } from '../task/lane-view.ts'
import { laneKey } from '../task/lane.ts'
import type { LaneReading } from './destinations.ts'
import type { AttemptEnded, TaskEnded } from './events.ts'
import type { ServiceReading } from './gauges.ts'
import { createServiceMetrics, type MetricsOptions } from './metrics.ts'

const NOW = 1_767_225_600_000

const attempt: AttemptEnded = {
  taskId: 'a',
  lane: 'default https://a.example',
  policyId: 'payments',
  attemptNumber: 1,
  outcome: 'success',
  durationMs: 20,
  latenessMs: 3,
  ownLatenessMs: 2,
  overheadMs: 1,
}
const ended: TaskEnded = { ...attempt, status: 'SUCCEEDED', ageMs: 2_000 }

const CREDIT = { first: 20, retry: 60, late: 20 }

const NOTHING: ServiceReading = {
  store: {
    tasks: { PENDING: 0, IN_FLIGHT: 0, SUCCEEDED: 0, EXHAUSTED: 0, CANCELLED: 0 },
    health: { now: NOW, clockSkewMs: 0 },
  },
  lanes: [],
  controls: [],
  pauses: 0,
  now: NOW,
  loopLagMs: 0,
}

function laneAt(destination: string, pending: number, more: Partial<LaneReading['view']> | null = {}): LaneReading {
  const lane = laneKey({ tenant: 'default', destination })
  const counts = { inFlight: 1, succeeded: 0, exhausted: 0, cancelled: 0, attempts: 0, firstAttempts: 0 }
  const view = { lane, breaker: 'closed', limit: 10, inFlight: 1, credit: CREDIT, ...more } as const
  return { counters: { lane, pending, ...counts }, ...(more !== null && { view }) }
}

function setting(reading: Partial<ServiceReading> = {}, options: Partial<MetricsOptions> = {}) {
  let current = { ...NOTHING, ...reading }
  const metrics = createServiceMetrics({ read: () => Promise.resolve(current), ...options })
  return {
    events: metrics.events,
    change: (next: Partial<ServiceReading>) => (current = { ...NOTHING, ...next }),
    scrape: async () => (await metrics.scrape()).text,
  }
}

/** All samples of a metric, as `labels value`. */
function samples(text: string, name: string): string[] {
  const lines = text.split('\n').filter(line => new RegExp(`^${name}[{ ]`).test(line))
  return lines.map(line => line.slice(name.length).trim())
}

describe('what happened', () => {
  it('is counted: attempts by outcome and policy, from 0 on for every outcome', async () => {
    const { events, scrape } = setting()
    events.attemptEnded(attempt)
    events.attemptEnded({ ...attempt, outcome: 'transient' })
    events.attemptEnded({ ...attempt, outcome: 'transient' })
    assert.deepEqual(samples(await scrape(), 'retry_attempts_total'), [
      '{outcome="success",policy="payments"} 1',
      '{outcome="transient",policy="payments"} 2',
      '{outcome="throttled",policy="payments"} 0',
      '{outcome="ambiguous",policy="payments"} 0',
      '{outcome="permanent",policy="payments"} 0',
      '{outcome="ignored",policy="payments"} 0',
    ])
  })

  it('is measured in seconds: the age of tasks, lateness, overhead', async () => {
    const { events, scrape } = setting()
    events.attemptEnded(attempt)
    events.taskEnded(ended)
    const text = await scrape()
    assert.deepEqual(samples(text, 'retry_task_age_seconds_sum'), ['{policy="payments"} 2'])
    assert.deepEqual(samples(text, 'retry_lateness_seconds_sum'), ['0.003'])
    assert.deepEqual(samples(text, 'retry_own_lateness_seconds_sum'), ['0.002'])
    assert.deepEqual(samples(text, 'retry_scheduling_overhead_seconds_sum'), ['0.001'])
    assert.ok(samples(text, 'retry_scheduling_overhead_seconds_bucket').includes('{le="0.005"} 1'))
  })

  it('has every reason for dead letters and holds from the beginning', async () => {
    const { events, scrape } = setting()
    events.taskEnded(ended)
    events.taskEnded({ ...ended, status: 'EXHAUSTED', reason: 'attempts' })
    events.held({ lane: attempt.lane, reason: 'breaker-open', ms: 1_500 })
    const text = await scrape()
    const dead = samples(text, 'retry_dead_letters_total')
    assert.equal(dead.length, GIVE_UP_REASONS.length)
    assert.deepEqual(
      dead.filter(line => !line.endsWith(' 0')),
      ['{reason="attempts"} 1'],
    )
    const held = samples(text, 'retry_held_seconds_total')
    assert.equal(held.length, HOLD_REASONS.length)
    assert.deepEqual(
      held.filter(line => !line.endsWith(' 0')),
      ['{reason="breaker-open"} 1.5'],
    )
  })

  it('never fails whoever tells of it, whatever a clock that was set back makes of durations', async () => {
    const { events, scrape } = setting()
    for (const ms of [-1, NaN, Infinity, -Infinity]) {
      events.attemptEnded({ ...attempt, durationMs: ms, latenessMs: ms, ownLatenessMs: ms, overheadMs: ms })
      events.taskEnded({ ...ended, ageMs: ms })
      events.held({ lane: attempt.lane, reason: 'slots', ms })
      events.orphan({ ...attempt, durationMs: ms })
      events.warning('a-code', 'a sentence')
    }
    assert.deepEqual(samples(await scrape(), 'retry_lateness_seconds_count'), ['4'])
  })

  it('has a series of its own for so many policies; the rest are one', async () => {
    const { events, scrape } = setting({}, { mostPolicies: 2 })
    for (const policyId of ['a', 'b', 'c', 'd', 'a']) events.attemptEnded({ ...attempt, policyId })
    for (const policyId of ['c', 'a']) events.taskEnded({ ...ended, policyId })
    const text = await scrape()
    assert.deepEqual(
      samples(text, 'retry_attempts_total').filter(line => !line.endsWith(' 0')),
      ['{outcome="success",policy="a"} 2', '{outcome="success",policy="b"} 1', '{outcome="success",policy="other"} 2'],
    )
    assert.deepEqual(samples(text, 'retry_task_age_seconds_count'), ['{policy="other"} 1', '{policy="a"} 1'])
  })
})

describe('what is', () => {
  it('is shown as it is at the scrape: tasks by status, the store, the loop', async () => {
    const { scrape, change } = setting()
    const tasks = { PENDING: 5, IN_FLIGHT: 1, SUCCEEDED: 7, EXHAUSTED: 2, CANCELLED: 3 }
    change({ store: { tasks, health: { now: NOW, clockSkewMs: -250 } }, loopLagMs: 12 })
    const text = await scrape()
    assert.deepEqual(samples(text, 'retry_tasks'), [
      '{status="PENDING"} 5',
      '{status="IN_FLIGHT"} 1',
      '{status="SUCCEEDED"} 7',
      '{status="EXHAUSTED"} 2',
      '{status="CANCELLED"} 3',
    ])
    assert.deepEqual(samples(text, 'retry_store_up'), ['1'])
    assert.deepEqual(samples(text, 'retry_store_clock_skew_seconds'), ['-0.25'])
    assert.deepEqual(samples(text, 'retry_event_loop_lag_seconds'), ['0.012'])
  })

  it('is not what was, once the store says nothing', async () => {
    const { scrape, change } = setting()
    await scrape()
    change({ store: undefined })
    const text = await scrape()
    assert.deepEqual([samples(text, 'retry_tasks'), samples(text, 'retry_store_up')], [[], ['0']])
    change({ store: { ...NOTHING.store!, health: { now: NOW, clockSkewMs: 0, problem: 'the disk is full' } } })
    assert.deepEqual(samples(await scrape(), 'retry_store_up'), ['0'])
  })

  it('is added up over the tenants of a destination', async () => {
    const lanes = ['one', 'two'].map(tenant => {
      const agoMs = tenant === 'one' ? 4_000 : 9_000
      const due = { oldestDueAt: NOW - 60_000, overdueSince: NOW - agoMs, heldSince: NOW - 2 * agoMs }
      const reading = laneAt('https://a.example', 3, due)
      const lane = laneKey({ tenant, destination: 'https://a.example' })
      return { ...reading, counters: { ...reading.counters, lane } }
    })
    lanes[1] = { ...lanes[1]!, view: { ...lanes[1]!.view!, breaker: 'open' } }
    const text = await setting({ lanes }).scrape()
    const destination = '{destination="https://a.example"}'
    for (const [name, value] of Object.entries({ backlog: 6, in_flight: 2, limit: 20 }))
      assert.deepEqual(samples(text, `retry_destination_${name}`), [`${destination} ${value}`])
    assert.deepEqual(samples(text, 'retry_destination_credit'), [
      '{destination="https://a.example",kind="first"} 40',
      '{destination="https://a.example",kind="retry"} 120',
      '{destination="https://a.example",kind="late"} 40',
    ])
    assert.deepEqual(samples(text, 'retry_destination_oldest_due_seconds'), [`${destination} 9`])
    assert.deepEqual(samples(text, 'retry_oldest_due_seconds'), ['9'])
    assert.deepEqual(samples(text, 'retry_destination_oldest_held_seconds'), [`${destination} 18`])
    assert.deepEqual(samples(text, 'retry_oldest_held_seconds'), ['18'])
    assert.deepEqual(
      samples(text, 'retry_destination_breaker_state').filter(line => line.endsWith(' 1')),
      ['closed', 'open'].map(state => `{destination="https://a.example",state="${state}"} 1`),
    )
  })

  it('has the balance of a budget only where an operator has set one', async () => {
    const lanes = [laneAt('https://a.example', 1), laneAt('https://b.example', 1, { budgetBalance: 5 })]
    const text = await setting({ lanes }).scrape()
    assert.deepEqual(samples(text, 'retry_destination_budget_balance'), ['{destination="https://b.example"} 5'])
  })

  it('is shown for the destinations with the longest backlogs; the rest are one', async () => {
    const lanes = [1, 5, 3, 2].map((pending, n) => laneAt(`https://${n}.example`, pending))
    const text = await setting({ lanes }, { mostDestinations: 2 }).scrape()
    assert.deepEqual(samples(text, 'retry_destination_backlog'), [
      '{destination="https://1.example"} 5',
      '{destination="https://2.example"} 3',
      '{destination="other"} 3',
    ])
  })

  it('is gone from the next scrape when it is gone', async () => {
    const { scrape, change } = setting({ lanes: [laneAt('https://a.example', 1)] })
    await scrape()
    change({ lanes: [laneAt('https://b.example', 1)] })
    const text = await scrape()
    assert.doesNotMatch(text, /a\.example/)
    assert.equal(samples(text, 'retry_destination_backlog').length, 1)
  })

  it('is a backlog and nothing more where nobody here serves the lane, and nothing due is no time', async () => {
    const text = await setting({ lanes: [laneAt('https://a.example', 4, null)] }).scrape()
    const destination = '{destination="https://a.example"}'
    assert.deepEqual(samples(text, 'retry_destination_backlog'), [`${destination} 4`])
    assert.deepEqual(samples(text, 'retry_destination_limit'), [`${destination} 0`])
    for (const unknown of ['oldest_due', 'oldest_held'])
      for (const whose of ['retry', 'retry_destination'])
        assert.deepEqual(samples(text, `${whose}_${unknown}_seconds`), [], unknown)
    const early = await setting({ lanes: [laneAt('https://a.example', 4, { oldestDueAt: NOW + 5_000 })] }).scrape()
    assert.deepEqual(samples(early, 'retry_oldest_due_seconds'), ['0'])
  })

  it('adds up to the whole, however many destinations are shown', () => {
    const lanes = fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.nat({ max: 100 })), { maxLength: 30 })
    return fc.assert(
      fc.asyncProperty(lanes, fc.integer({ min: 1, max: 6 }), async (lanes, mostDestinations) => {
        const readings = lanes.map(([name, pending]) => laneAt(`https://${name}.example`, pending))
        const shown = samples(
          await setting({ lanes: readings }, { mostDestinations }).scrape(),
          'retry_destination_backlog',
        )
        const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
        assert.equal(sum(shown.map(line => Number(line.split(' ').at(-1)))), sum(lanes.map(([, pending]) => pending)))
        assert.ok(shown.length <= mostDestinations + 1)
      }),
      { numRuns: 50 },
    )
  })
})

describe('what was ordered', () => {
  it('is counted by scope and level, each of them, and shown to be gone when it is', async () => {
    const control = { scope: { kind: 'tenant', tenant: 'acme' }, level: 'dispatch-off' } as const
    const { scrape, change } = setting({ controls: [control, control], pauses: 3 })
    const before = await scrape()
    const active = samples(before, 'retry_controls_active')
    assert.equal(active.length, 12)
    assert.deepEqual(
      active.filter(sample => !sample.endsWith(' 0')),
      ['{scope="tenant",level="dispatch-off"} 2'],
    )
    assert.deepEqual(samples(before, 'retry_destinations_paused'), ['3'])
    change({})
    const after = await scrape()
    assert.ok(samples(after, 'retry_controls_active').every(sample => sample.endsWith(' 0')))
    assert.deepEqual(samples(after, 'retry_destinations_paused'), ['0'])
  })
})

describe('the log', () => {
  it('is missed by the lines that were lost so far', async () => {
    let lost = 0
    const { scrape } = setting({}, { lostLogLines: () => lost })
    assert.deepEqual(samples(await scrape(), 'retry_log_lines_lost_total'), ['0'])
    lost = 3
    await scrape()
    assert.deepEqual(samples(await scrape(), 'retry_log_lines_lost_total'), ['3'])
  })
})

describe('the text', () => {
  const NAMES = [
    'retry_attempts_total',
    'retry_task_age_seconds',
    'retry_dead_letters_total',
    'retry_held_seconds_total',
    'retry_lateness_seconds',
    'retry_own_lateness_seconds',
    'retry_scheduling_overhead_seconds',
    'retry_tasks',
    'retry_oldest_due_seconds',
    'retry_oldest_held_seconds',
    'retry_store_up',
    'retry_store_clock_skew_seconds',
    'retry_event_loop_lag_seconds',
    'retry_controls_active',
    'retry_destinations_paused',
    'retry_destination_backlog',
    'retry_destination_in_flight',
    'retry_destination_limit',
    'retry_destination_budget_balance',
    'retry_destination_oldest_due_seconds',
    'retry_destination_oldest_held_seconds',
    'retry_destination_breaker_state',
    'retry_destination_credit',
    'retry_replay_moved_total',
    'retry_log_lines_lost_total',
  ]
  const full = (): Promise<string> => {
    const { events, scrape } = setting({ lanes: [laneAt('https://a.example', 1)] })
    events.attemptEnded({ ...attempt, policyId: '"}\n\\' })
    events.taskEnded(ended)
    return scrape()
  }

  it('has these metrics and no others', async () => {
    const types = [...(await full()).matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name)
    assert.deepEqual(types, NAMES)
  })

  it('says which type it is of', async () => {
    const { contentType } = await createServiceMetrics({ read: () => Promise.resolve(NOTHING) }).scrape()
    assert.equal(contentType, 'text/plain; version=0.0.4; charset=utf-8')
  })

  const promtool = (input: string) => spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })
  const hasPromtool = promtool('').error === undefined
  it(`passes ${hasPromtool ? 'promtool check metrics' : 'a plain parser (there is no promtool on this machine)'}`, async () => {
    const text = await full()
    for (const line of text.split('\n')) assert.match(line, /^(?:|# (?:HELP|TYPE) \w+ .+|\w+(?:\{.+\})? -?[\d.e+-]+)$/)
    if (!hasPromtool) return
    const { stdout, stderr, status } = promtool(text)
    assert.deepEqual([stdout + stderr, status], ['', 0])
  })
})
