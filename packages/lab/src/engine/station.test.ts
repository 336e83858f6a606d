import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { runSmall } from '../run-scenario.test-kit.ts'

const ONCE = { maxAttempts: 1, attemptTimeoutMs: 1_000, totalBudgetMs: 60_000 }
const herd = (count: number) => ({ count, arrivals: { kind: 'together', atMs: 0 } }) as const

describe('a station', () => {
  it('works on as many calls at once as it has servers', () => {
    const { clients } = runSmall({ group: herd(6), server: { servers: 2, serviceMs: 100 } })
    assert.equal(clients.lastEndAtMs, 300)
  })

  it('refuses whoever finds its buffer full, and names the wait that it was told to name', () => {
    const { clients, server } = runSmall({
      group: herd(5),
      policy: { name: 'p', retry: { maxAttempts: 2, initialDelayMs: 1, jitterType: 'NONE' } },
      server: { servers: 1, serviceMs: 10, queue: { maxLength: 1 }, retryAfterMs: 2_000 },
    })
    assert.deepEqual([server.refused, clients.succeeded], [3, 5])
    assert.deepEqual(server.perStep.retries, [0, 0, 3])
  })

  it('goes on with what nobody waits for, unless it cancels', () => {
    const world = { group: herd(4), policy: ONCE, server: { servers: 1, serviceMs: 800 } }
    const stubborn = runSmall(world)
    const polite = runSmall({ ...world, server: { ...world.server, cancels: true } })
    assert.equal(stubborn.clients.succeeded, 1)
    assert.equal(stubborn.server.workMs, 4 * 800)
    assert.equal(stubborn.server.wastedShare, 0.75)
    assert.equal(polite.server.workMs, 800 + 200)
  })

  it('drops what has expired when its turn comes, if it is told to', () => {
    const { server } = runSmall({
      group: herd(4),
      policy: ONCE,
      server: { servers: 1, serviceMs: 800, queue: { dropsExpired: true } },
    })
    assert.deepEqual([server.workMs, server.refused], [2 * 800, 2])
  })

  it('serves the latest first under overload, so that some are served in time', () => {
    const served = (order: 'fifo' | 'lifo' | 'lifo-under-overload'): number =>
      runSmall({
        durationMs: 60_000,
        group: { arrivals: { kind: 'constant', perSecond: 20 } },
        policy: ONCE,
        server: { servers: 1, serviceMs: 100, queue: { order, overloadLength: 5 } },
      }).clients.successShare
    assert.ok(served('fifo') < 0.1)
    assert.ok(served('lifo') > 0.4)
    assert.ok(served('lifo-under-overload') > 0.4)
  })

  it('keeps waits short with CoDel while it is asked for too much', () => {
    const p50 = (order: 'fifo' | 'codel'): number =>
      runSmall({
        durationMs: 60_000,
        group: { arrivals: { kind: 'poisson', perSecond: 120 } },
        server: { servers: 1, serviceMs: 10, queue: { order } },
      }).clients.latency.p50Ms
    assert.ok(p50('fifo') > 2_000)
    assert.ok(p50('codel') < 700, `${p50('codel')}`)
  })

  it('stalls: who is served ends, who waits begins when it is over', () => {
    const { clients } = runSmall({
      group: { arrivals: { kind: 'trace', atMs: [990, 1_010] } },
      server: { servers: 1, serviceMs: 20, troubles: [{ fromMs: 1_000, untilMs: 5_000, capacity: 0 }] },
    })
    assert.deepEqual([clients.perStep.good[1], clients.perStep.good[5]], [1, 1])
    assert.equal(clients.lastEndAtMs, 5_020)
  })

  it('is slower with less capacity, and comes back slowly if it starts so', () => {
    const world = { group: { arrivals: { kind: 'trace', atMs: [500, 1_500, 2_500] } } } as const
    const troubles = [{ fromMs: 0, untilMs: 1_000, capacity: 0.5 }]
    const quick = runSmall({ ...world, server: { serviceMs: 100, troubles } })
    const slow = runSmall({ ...world, server: { serviceMs: 100, troubles, slowStartMs: 1_000 } })
    assert.equal(quick.server.workMs, 200 + 100 + 100)
    assert.equal(slow.server.workMs, 200 + 200 + 100)
  })

  it('cannot be reached: refused at once, and no server was busy', () => {
    const { clients, server } = runSmall({ server: { troubles: [{ fromMs: 0, untilMs: 10_000, unreachable: true }] } })
    assert.deepEqual([clients.succeeded, server.workMs, clients.reasons], [0, 0, { attempts: clients.operations }])
  })

  it('under contention lets one writer through for each version', () => {
    const { clients, server } = runSmall({
      group: { ...herd(3), network: { delayMs: 10 } },
      policy: { name: 'p', retry: { maxAttempts: 10, initialDelayMs: 5, jitterType: 'NONE' }, budget: false },
      server: { serviceMs: 0, contention: 'optimistic' },
    })
    assert.equal(clients.succeeded, 3)
    assert.deepEqual([server.first, server.retries], [3, 2 + 1])
  })

  it('loses messages on the network, and only patience ends such a call', () => {
    const { clients } = runSmall({
      durationMs: 100_000,
      group: { network: { delayMs: 1, loss: 0.1 } },
      policy: { maxAttempts: 1, attemptTimeoutMs: 500 },
    })
    assert.ok(Math.abs(clients.successShare - 0.81) < 0.04, `${clients.successShare}`)
  })

  it('with replicas is called elsewhere after one has failed', () => {
    const { clients, server } = runSmall({
      policy: { maxAttempts: 2, initialDelayMs: 1 },
      server: {
        replicas: [{ name: 'a' }, { name: 'b' }],
        troubles: [{ fromMs: 0, untilMs: 10_000, replica: 'a', errorRate: 1 }],
      },
    })
    assert.equal(clients.successShare, 1)
    assert.ok(server.retries > 0 && server.retries < 10, `${server.retries} retries`)
  })

  it('of another region is called when home has failed, and is farther away', () => {
    const { clients } = runSmall({
      group: { region: 'here', network: { delayMs: 1, betweenRegionsMs: 50 } },
      policy: { maxAttempts: 3, initialDelayMs: 1 },
      server: {
        serviceMs: 1,
        replicas: [
          { name: 'a', region: 'here' },
          { name: 'b', region: 'there' },
        ],
        troubles: [{ fromMs: 5_000, untilMs: 10_000, replica: 'a', unreachable: true }],
      },
    })
    assert.equal(clients.successShare, 1)
    assert.ok(clients.latency.p50Ms < 10 || clients.latency.p99Ms > 100)
    assert.ok(clients.latency.p99Ms > 100)
  })
})
