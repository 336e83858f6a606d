import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { laneKind, laneOrders } from '@secondwind/resilience/rules'
import { endOf, isInForce, reaches, type Control, type ControlLevel, type ControlScope } from './control.ts'
import { controlOn, gatesAt, NO_ORDERS, ordersFor, passesPauses } from './orders.ts'
import type { DestinationSettings } from './destination-settings.ts'
import { RANKS, type QueueKind } from './task.ts'

const NOW = 1_767_225_600_000
const LANE = { tenant: 'acme', destination: 'https://api.example' }
const NONE = (): number => 0

function control(level: ControlLevel, scope: ControlScope, more: Partial<Control> = {}): Control {
  const of = {
    controlId: 'c',
    tenant: 'acme',
    reason: 'a storm',
    createdAt: NOW,
    createdBy: 'local',
    isByOperator: true,
  }
  return { ...of, level, scope, ...more }
}

function held(controls: readonly Control[], kind: QueueKind, policyId = 'default', now = NOW): boolean {
  return controlOn(ordersFor(LANE, controls), { kind, policyId }, now) !== undefined
}

describe('a control', () => {
  const all = { kind: 'all' } as const

  it('of retries-off holds retries and lets first attempts pass', () => {
    const controls = [control('retries-off', all)]
    assert.deepEqual(
      laneKind.START_KINDS.filter(kind => held(controls, kind)),
      ['retry', 'late'],
    )
  })

  it('of dispatch-off holds both, for the lane as a whole', () => {
    const orders = ordersFor(LANE, [control('dispatch-off', all, { expiresAt: NOW + 1 })])
    assert.deepEqual(orders.lane.kill, { until: NOW + 1 })
    assert.deepEqual(orders.queues, [])
  })

  it('of intake-off holds nothing that was taken in', () => {
    assert.equal(ordersFor(LANE, [control('intake-off', all)]), NO_ORDERS)
  })

  it('of a policy holds the queues of that policy', () => {
    const controls = [control('dispatch-off', { kind: 'policy', policyId: 'payments' })]
    assert.deepEqual([held(controls, 'first', 'payments'), held(controls, 'first', 'orders')], [true, false])
  })

  it('of a policy and retries-off holds its retries alone', () => {
    const controls = [control('retries-off', { kind: 'policy', policyId: 'payments' })]
    assert.deepEqual(
      [held(controls, 'retry', 'payments'), held(controls, 'first', 'payments'), held(controls, 'retry', 'orders')],
      [true, false, false],
    )
  })

  it('reaches the lanes of its scope, and never those of another tenant', () => {
    const scopes: [ControlScope, boolean, boolean][] = [
      [{ kind: 'all' }, true, true],
      [{ kind: 'tenant', tenant: 'acme' }, true, false],
      [{ kind: 'tenant', tenant: 'globex' }, false, true],
      [{ kind: 'policy', policyId: 'payments' }, true, false],
      [{ kind: 'destination', destination: 'https://api.example' }, true, false],
      [{ kind: 'destination', destination: 'https://other.example' }, false, false],
    ]
    for (const [scope, ours, theirs] of scopes) {
      const one = control('dispatch-off', scope)
      assert.deepEqual([reaches(one, LANE), reaches(one, { ...LANE, tenant: 'globex' })], [ours, theirs])
    }
  })

  it('of nobody in particular reaches the policies and destinations of every tenant', () => {
    const { tenant: _, ...one } = control('dispatch-off', { kind: 'destination', destination: LANE.destination })
    assert.equal(reaches(one, { ...LANE, tenant: 'globex' }), true)
    assert.equal(reaches(one, { tenant: 'globex', destination: 'https://other.example' }), false)
    assert.equal(reaches({ ...one, scope: { kind: 'policy', policyId: 'payments' } }, LANE), true)
  })

  it('keeps its ramp behind another that ends later, be it of the lane or of some queues', () => {
    const slow = { expiresAt: NOW + 1_000, rampMs: 100_000 }
    const quick = { expiresAt: NOW + 2_000, rampMs: 0, isByOperator: false }
    const at = NOW + 3_000
    for (const controls of [
      [slow, quick],
      [quick, slow],
    ]) {
      const whole = ordersFor(
        LANE,
        controls.map(more => control('dispatch-off', all, more)),
      )
      assert.equal(whole.lane.kill?.until, NOW + 2_000)
      assert.equal(laneOrders.limitByOrders(whole.lane, 100, at), 1)
      const some = ordersFor(
        LANE,
        controls.map(more => control('retries-off', all, more)),
      )
      assert.deepEqual(
        gatesAt(some.queues, 100, at, NONE).map(({ room, reason }) => [room, reason]),
        [[1, 'slow-start']],
      )
    }
  })

  it('holds for as long as the longest of those that mean the same, and its ramp begins when that ends', () => {
    const anyEnd = fc.option(fc.integer({ min: NOW - 9_000, max: NOW + 9_000 }), { nil: undefined })
    const anyControl = fc
      .record({
        level: fc.constantFrom<ControlLevel>('retries-off', 'dispatch-off', 'intake-off'),
        scope: fc.constantFrom<ControlScope>(
          all,
          { kind: 'tenant', tenant: 'acme' },
          { kind: 'policy', policyId: 'p' },
        ),
        ends: fc.record({ expiresAt: anyEnd, endedAt: anyEnd }),
      })
      .map(({ level, scope, ends: { expiresAt, endedAt } }) =>
        control(level, scope, { ...(expiresAt && { expiresAt }), ...(endedAt && { endedAt }) }),
      )
    fc.assert(
      fc.property(
        fc.array(anyControl, { maxLength: 6 }),
        fc.constantFrom(...laneKind.START_KINDS),
        fc.constantFrom('p', 'q'),
        fc.nat(9_000),
        (controls, kind, policyId, laterMs) => {
          const now = NOW + laterMs
          const meant = controls.filter(
            one =>
              one.level !== 'intake-off' &&
              (one.level === 'dispatch-off' || kind !== 'first') &&
              (one.scope.kind !== 'policy' || policyId === 'p'),
          )
          assert.equal(
            held(controls, kind, policyId, now),
            meant.some(one => isInForce(one, now)),
          )
          const whole = meant.filter(one => one.level === 'dispatch-off' && one.scope.kind !== 'policy')
          const { lane } = ordersFor(LANE, controls)
          const longest = Math.max(...whole.map(endOf))
          assert.equal(lane.kill?.until ?? Infinity, whole.length === 0 ? Infinity : longest)
          assert.equal(
            laneOrders.shutBy(lane, now) !== undefined,
            whole.some(one => isInForce(one, now)),
          )
        },
      ),
    )
  })
})

describe('a gate of some queues', () => {
  const over = control('retries-off', { kind: 'all' }, { endedAt: NOW })

  it('has no room while its control is in force, and says until when', () => {
    const { queues } = ordersFor(LANE, [{ ...over, endedAt: NOW + 500 }])
    const [gate] = gatesAt(queues, 100, NOW, NONE)
    assert.deepEqual([gate!.room, gate!.until], [0, NOW + 500])
  })

  it('opens by a ramp: from one on, twice as many every two seconds, until it is the whole limit', () => {
    const { queues } = ordersFor(LANE, [over])
    const roomAfter = (ms: number): number | undefined => gatesAt(queues, 100, NOW + ms, NONE)[0]?.room
    assert.deepEqual([0, 2_000, 8_000, 14_000].map(roomAfter), [1, 2, 16, undefined])
    assert.deepEqual(
      gatesAt(queues, 100, NOW + 2_000, () => 2).map(({ room, until }) => [room, until]),
      [[0, NOW + 3_170]],
    )
  })
})

describe("a destination's settings", () => {
  const by = { since: NOW, by: 'local' }

  it('are orders for its lane: a pause, a breaker set by hand, a ramp after either', () => {
    const ordersOf = (own: DestinationSettings) => ordersFor(LANE, [], { own }).lane
    assert.deepEqual(ordersOf({ paused: { ...by, until: NOW + 9 } }), { pause: { until: NOW + 9 } })
    assert.deepEqual(ordersOf({ paused: by }), { pause: {} })
    assert.deepEqual(ordersOf({ forced: { ...by, breaker: 'open' } }), { forced: 'open' })
    assert.deepEqual(ordersOf({ forced: { ...by, breaker: 'auto' } }), { ramps: [{ since: NOW }] })
    assert.deepEqual(ordersOf({ resumed: { ...by, rampMs: 5 } }), { ramps: [{ since: NOW, rampMs: 5 }] })
    assert.equal(ordersFor(LANE, [], { own: { name: 'payments' } }), NO_ORDERS)
  })

  it('hold beside those for every tenant: the longer pause, every ramp, and a breaker that anybody holds open', () => {
    const ordersOf = (all: DestinationSettings, own: DestinationSettings) => ordersFor(LANE, [], { all, own })
    const [short, long] = [
      { ...by, until: NOW + 5 },
      { ...by, until: NOW + 9 },
    ]
    for (const [all, own] of [
      [short, long],
      [long, short],
    ]) {
      const { lane, pauses } = ordersOf({ paused: all! }, { paused: own! })
      assert.deepEqual([lane.pause, pauses], [{ until: NOW + 9 }, [long, short]])
    }
    assert.deepEqual(ordersOf({ paused: by }, { paused: long }).lane.pause, {})
    const ramps = ordersOf({ resumed: { ...by, rampMs: 5 } }, { resumed: by }).lane.ramps
    assert.deepEqual(ramps, [{ since: NOW, rampMs: 5 }, { since: NOW }])
    const [open, closed] = (['open', 'closed'] as const).map(breaker => ({ forced: { ...by, breaker } }))
    assert.equal(ordersOf(open!, closed!).lane.forced, 'open')
    assert.equal(ordersOf(closed!, open!).lane.forced, 'open')
    assert.equal(ordersOf(closed!, {}).lane.forced, 'closed')
  })

  it('is a breaker that a tenant holds open and not closed, once an operator has set its credit', () => {
    const byOperator = { ...by, isByOperator: true } as const
    const ordered = { limits: { credit: { probeMinMs: 5_000 } }, limitsBy: byOperator }
    const [open, closed] = (['open', 'closed'] as const).map(breaker => ({ forced: { ...by, breaker } }))
    for (const [all, own, forced] of [
      [ordered, closed, undefined],
      [ordered, open, 'open'],
      [{}, { ...ordered, ...closed }, undefined],
      [{ ...ordered, forced: { ...byOperator, breaker: 'closed' } }, {}, 'closed'],
      [{ ...ordered, limits: { concurrency: 1 } }, closed, 'closed'],
      [{}, { limits: { credit: { probeMinMs: 5_000 } }, limitsBy: by, ...closed }, 'closed'],
    ] as const)
      assert.equal(ordersFor(LANE, [], { all, own: own! }).lane.forced, forced)
  })
})

describe('a pause', () => {
  it('of a tenant is passed by what was asked for by hand, and a pause of an operator by nothing', () => {
    const by = { since: NOW, by: 'local' }
    const ordered = { ...by, isByOperator: true, until: NOW + 5 } as const
    const passing = (all: DestinationSettings, own: DestinationSettings, now = NOW) =>
      RANKS.filter(rank => passesPauses(ordersFor(LANE, [], { all, own }), rank, now))
    assert.deepEqual(passing({}, { paused: by }), ['urgent'])
    assert.deepEqual(passing({}, { paused: ordered }), [])
    assert.deepEqual(passing({ paused: ordered }, { paused: by }), [], 'one that ends later covers none')
    assert.deepEqual(passing({ paused: ordered }, { paused: by }, NOW + 5), ['urgent'])
  })

  it('keeps its ramp behind another that ends later', () => {
    const setBy = { since: NOW, by: 'local' }
    const all = { paused: { ...setBy, until: NOW + 1_000, rampMs: 100_000 } }
    const own = { paused: { ...setBy, until: NOW + 2_000, rampMs: 0 } }
    const { lane } = ordersFor(LANE, [], { all, own })
    assert.equal(lane.pause?.until, NOW + 2_000)
    assert.equal(laneOrders.limitByOrders(lane, 100, NOW + 3_000), 1)
  })
})
