/** The rows that are not only virtual, in small, with the real service and a real sink. Counts and order, no times. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { systemClock, type RetryPolicyInput } from '@secondwind/resilience'
import { describe, it, vi } from 'vitest'
import { startProcess } from '../crash/service-process.test-kit.ts'
import { aService, aSink, temporaryDirectory, until, type Arrival, type Sink } from '../service.test-kit.ts'

// Processes, sockets and disks take as long as the machine lets them.
vi.setConfig({ testTimeout: 120_000 })

/** Retried within milliseconds; a task that a gate keeps too long dies of its deadline alone, and that can be counted. */
const QUICK = { maxAttempts: 1_000, initialDelayMs: 50, multiplier: 2, maxDelayMs: 400, totalBudgetMs: 20_000 }

/** What the purses of a lane hold together, and a probe of each kind a second while the sink is down. */
const MOST_WHILE_DOWN = 100 + 15

const OUTAGE_MS = 2_000

/** Longer than most tasks have to live. */
const LOOKS = 600
const LOOK_MS = 50

/** Settings are obeyed within two seconds. */
const OBEYED_MS = 2_000

/** So many tasks are accepted, and so many attempts under way, when the service is killed. */
const KILLED_AMID = 10

type Answer = (arrival: Arrival, response: ServerResponse) => void

const failingTimes =
  (times: number): Answer =>
  ({ attempt }, response) =>
    void response.writeHead(attempt > times ? 200 : 503).end()

interface Orders {
  readonly count: number
  /** Left out: all at once. */
  readonly everyMs?: number
  readonly policy?: RetryPolicyInput
}

async function setting(answer: Answer) {
  const [service, sink] = [await aService(), await aSink(answer)]
  const destination = `/destinations/${encodeURIComponent(sink.url)}`
  const bring = ({ count, everyMs = 0, policy = QUICK }: Orders): Promise<void> =>
    bringTo(service.url, { count, everyMs, policy, sink })
  /** How many were delivered and how many given up, once so many are delivered or none waits any more. */
  const ended = async (count: number): Promise<{ succeeded: number; exhausted: number }> => {
    for (let looks = 0; ; looks++) {
      const { succeeded, exhausted, backlog, inFlight } = (await service.call(destination)).body
      if (succeeded >= count || backlog + inFlight === 0 || looks >= LOOKS) return { succeeded, exhausted }
      await systemClock.sleep(LOOK_MS)
    }
  }
  return { service, sink, destination, bring, ended }
}

async function bringTo(url: string, orders: Required<Orders> & { readonly sink: Sink }): Promise<void> {
  const { count, everyMs, policy, sink } = orders
  for (let task = 0; task < count; task++) {
    await post(url, { targetUrl: `${sink.url}/${task}`, idempotencyKey: keyOf(task), policy })
    if (everyMs > 0) await systemClock.sleep(everyMs)
  }
}

async function post(url: string, order: object): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/retry-tasks`, { method: 'POST', headers, body: JSON.stringify(order) })
  await response.arrayBuffer()
  assert.ok(response.ok, `refused with ${response.status}`)
}

function keyOf(task: number): string {
  return `task-${task}`
}

/** The attempts that arrived for each task. */
function attemptsOf({ arrivals }: Sink): number[][] {
  const attempts = new Map<string, number[]>()
  for (const { key, attempt } of arrivals) attempts.set(key, [...(attempts.get(key) ?? []), attempt])
  return [...attempts.values()]
}

function repeated<Item>(item: Item, count: number): Item[] {
  return Array.from({ length: count }, () => item)
}

describe('a target that fails the first attempts of each task', () => {
  it('is asked once more for each of them, and no task dies', async () => {
    const { sink, bring, ended } = await setting(failingTimes(1))
    await bring({ count: 100 })
    assert.deepEqual(await ended(100), { succeeded: 100, exhausted: 0 })
    assert.deepEqual(attemptsOf(sink), repeated([1, 2], 100))
  })

  it.each([
    { count: 25, everyMs: 40, says: 'a few tasks, one after the other' },
    { count: 300, everyMs: 0, says: 'many tasks at once' },
  ])('gets three attempts of each where two fail: $says', async ({ count, everyMs }) => {
    const { sink, bring, ended } = await setting(failingTimes(2))
    await bring({ count, everyMs })
    assert.deepEqual(await ended(count), { succeeded: count, exhausted: 0 })
    assert.deepEqual(attemptsOf(sink), repeated([1, 2, 3], count))
  })
})

describe('a target that is down for a while', () => {
  it.each([
    { everyMs: 5, says: 'while all tasks come' },
    { everyMs: 25, says: 'and back while they still come' },
  ])('costs no task its life, and is asked little meanwhile: $says', async ({ everyMs }) => {
    let isDown = true
    let whileDown = 0
    const { bring, ended } = await setting((_, response) => {
      if (isDown) whileDown++
      response.writeHead(isDown ? 503 : 200).end()
    })
    const brought = bring({ count: 150, everyMs })
    await systemClock.sleep(OUTAGE_MS)
    isDown = false
    await brought
    assert.deepEqual(await ended(150), { succeeded: 150, exhausted: 0 })
    assert.ok(whileDown <= MOST_WHILE_DOWN, `${whileDown} requests while down`)
  })

  it('costs no task its life where it hangs, and holds few requests meanwhile', async () => {
    let isHanging = true
    let whileHanging = 0
    const { bring, ended } = await setting((_, response) => {
      if (isHanging) whileHanging++
      else response.end()
    })
    const brought = bring({ count: 150, everyMs: 5, policy: { ...QUICK, attemptTimeoutMs: 1_000 } })
    await systemClock.sleep(OUTAGE_MS)
    isHanging = false
    await brought
    assert.deepEqual(await ended(150), { succeeded: 150, exhausted: 0 })
    assert.ok(whileHanging <= MOST_WHILE_DOWN, `${whileHanging} requests while it hung`)
  })
})

describe('a target that is well', () => {
  it('gets the good tasks once each, and all of them, beside tasks that always fail', async () => {
    const isPoison = ({ path }: Arrival): boolean => Number(path.slice(1)) % 10 < 3
    const { sink, bring, ended } = await setting((arrival, response) => {
      response.writeHead(isPoison(arrival) ? 503 : 200).end()
    })
    // Long enough that none of the others has died before.
    await bring({ count: 200, everyMs: 5, policy: { ...QUICK, totalBudgetMs: 300_000 } })
    assert.deepEqual(await ended(140), { succeeded: 140, exhausted: 0 })
    assert.equal(sink.arrivals.filter(arrival => !isPoison(arrival)).length, 140)
  })

  it('gets one request at a time, in the order of the tasks, where that is its limit', async () => {
    let [underWay, most] = [0, 0]
    const { service, sink, destination, bring, ended } = await setting((_, response) => void slowly(response))
    const slowly = async (response: ServerResponse): Promise<void> => {
      most = Math.max(most, ++underWay)
      await systemClock.sleep(5)
      underWay--
      response.end()
    }
    const { status } = await service.call(`${destination}/settings`, { limits: { concurrency: 1 } }, 'PUT')
    assert.equal(status, 200)
    await systemClock.sleep(OBEYED_MS)
    await bring({ count: 100 })
    assert.deepEqual(await ended(100), { succeeded: 100, exhausted: 0 })
    assert.equal(most, 1)
    const order = sink.arrivals.map(({ key }) => key)
    assert.deepEqual(
      order,
      Array.from({ length: 100 }, (_, task) => keyOf(task)),
    )
  })
})

describe('a service that is killed', () => {
  it('delivers after its restart whatever it has taken, though each attempt was under way', async () => {
    let isKilled = false
    const delivered = new Set<string>()
    const sink = await aSink(({ key }, response) => {
      if (!isKilled) return
      delivered.add(key)
      response.end()
    })
    const data = temporaryDirectory()
    const accepted = new Set<string>()
    // The second process first has to find out that this one is dead.
    const policy = { ...QUICK, totalBudgetMs: 300_000 }
    const first = await startProcess(data)
    const bring = async (task: number): Promise<void> => {
      await post(first.url, { targetUrl: `${sink.url}/${task}`, idempotencyKey: keyOf(task), policy })
      accepted.add(keyOf(task))
    }
    // Some callers are cut off.
    const brought = Promise.allSettled(Array.from({ length: 100 }, (_, task) => bring(task)))
    const underWay = async (): Promise<number> => Math.min(sink.arrivals.length, accepted.size)
    await until(underWay, count => count >= KILLED_AMID)
    await first.kill()
    isKilled = true
    await brought
    await startProcess(data)
    const lost = (): string[] => [...accepted].filter(key => !delivered.has(key))
    for (let looks = 0; lost().length > 0 && looks < LOOKS; looks++) await systemClock.sleep(LOOK_MS)
    assert.deepEqual(lost(), [])
  })
})
