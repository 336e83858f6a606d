import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { KnownControl } from '../steering/standing-orders.ts'
import { aReplay, NOW, someCounts } from '../task/replay/replay.test-kit.ts'
import { ControlTidings } from './control-tidings.ts'
import { ReplayTidings } from './replay-tidings.ts'
import type { Told } from './stream/event-stream.ts'

const STORM: KnownControl = {
  controlId: 'c1',
  level: 'retries-off',
  scope: { kind: 'all' },
  reason: 'INC-2231',
  createdAt: NOW,
  createdBy: 'local',
  isByOperator: true,
  version: 1,
}

function setting() {
  const told: Told[] = []
  const world = { controls: [] as readonly KnownControl[], now: NOW }
  const stream = { tell: (one: Told) => void told.push(one) }
  const orders = {
    get controls() {
      return world.controls
    },
  }
  const now = (): number => world.now
  return {
    world,
    told,
    controls: new ControlTidings({ orders, stream, now }),
    replays: new ReplayTidings(stream, now),
    isOn: () => told.map(({ data }) => (data as { isInForce: boolean }).isInForce),
  }
}

describe('a kill switch', () => {
  it('is told when it was thrown and when it is over, though nobody ended it; what was there before is no news', () => {
    const { world, controls, isOn } = setting()
    world.controls = [STORM]
    controls.look()
    controls.look()
    assert.deepEqual(isOn(), [])
    world.controls = [STORM, { ...STORM, controlId: 'c2', expiresAt: NOW + 1_000 }]
    controls.look()
    world.now = NOW + 1_000
    controls.look()
    world.controls = [{ ...STORM, endedAt: world.now }, world.controls[1]!]
    controls.look()
    assert.deepEqual(isOn(), [true, false, false])
  })

  it('is told to whom it holds for', () => {
    const { world, controls, told } = setting()
    controls.look()
    const destination = 'https://api.example'
    world.controls = [
      STORM,
      { ...STORM, controlId: 'c2', scope: { kind: 'tenant', tenant: 'acme' } },
      { ...STORM, controlId: 'c3', tenant: 'globex', scope: { kind: 'destination', destination } },
      { ...STORM, controlId: 'c4', scope: { kind: 'destination', destination } },
    ]
    controls.look()
    assert.ok(
      told.every(({ data }) => !('tenant' in data)),
      'the listener knows who it is',
    )
    assert.deepEqual(
      told.map(({ tenant, destination: to }) => [tenant, to]),
      [
        [undefined, undefined],
        ['acme', undefined],
        ['globex', destination],
        [undefined, destination],
      ],
    )
  })
})

describe('a replay', () => {
  it('is told at once when its status changes, and else once a second', () => {
    const { world, replays, told } = setting()
    const tell = (status: 'RUNNING' | 'PAUSED', laterMs: number): void => {
      world.now = NOW + laterMs
      const replay = aReplay({ status })
      replays.changed({ replayId: 'r1', tenant: 'acme', version: 1, replay }, someCounts({ moved: laterMs }))
    }
    tell('RUNNING', 0)
    tell('RUNNING', 500)
    tell('PAUSED', 600)
    tell('RUNNING', 700)
    tell('RUNNING', 1_699)
    tell('RUNNING', 1_700)
    const seen = told.map(({ data }) => data as { status: string; counts: { moved: number } })
    assert.deepEqual(
      seen.map(({ status, counts }) => [status, counts.moved]),
      [
        ['RUNNING', 0],
        ['PAUSED', 600],
        ['RUNNING', 700],
        ['RUNNING', 1_700],
      ],
    )
    assert.deepEqual([told[0]!.tenant, told[0]!.destination], ['acme', 'https://api.example'])
  })
})
