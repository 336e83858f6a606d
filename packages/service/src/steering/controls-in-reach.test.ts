import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { ControlScope } from '../task/control.ts'
import { ControlsInReach, type KnownControl } from './controls-in-reach.ts'

function control(controlId: string, scope: ControlScope, more: Partial<KnownControl> = {}): KnownControl {
  const made = { createdAt: 0, createdBy: 'admin', isByOperator: true, reason: 'a test', version: 1 }
  return { controlId, level: 'dispatch-off', scope, ...made, ...more }
}

const ALL = control('all', { kind: 'all' })
const ACME = control('acme', { kind: 'tenant', tenant: 'acme' })
const ONE = control('one', { kind: 'destination', destination: 'http://one' })
const OWN = control('own', { kind: 'destination', destination: 'http://one' }, { tenant: 'acme' })

const lane = (tenant: string, destination = 'http://other'): { tenant: string; destination: string } => ({
  tenant,
  destination,
})
const idsOf = (inReach: ControlsInReach, ...name: Parameters<typeof lane>): string[] =>
  inReach.of(lane(...name)).controls.map(({ controlId }) => controlId)

describe('controls in reach', () => {
  it('are those whose scope has something of the lane', () => {
    const inReach = new ControlsInReach([ALL, ACME, ONE, OWN])
    assert.deepEqual(idsOf(inReach, 'acme'), ['all', 'acme'])
    assert.deepEqual(idsOf(inReach, 'beta'), ['all'])
    assert.deepEqual(idsOf(inReach, 'acme', 'http://one'), ['all', 'acme', 'one', 'own'])
    assert.deepEqual(idsOf(inReach, 'beta', 'http://one'), ['all', 'one'])
    assert.deepEqual(idsOf(new ControlsInReach([ACME]), 'beta'), [])
  })

  it('are found once for all lanes of a tenant, but for those that a control names', () => {
    const inReach = new ControlsInReach([ALL, ONE])
    assert.equal(inReach.of(lane('acme', 'http://a')), inReach.of(lane('acme', 'http://b')))
    assert.notEqual(inReach.of(lane('acme', 'http://a')), inReach.of(lane('acme', 'http://one')))
  })

  it('are the same object in the next reading unless one of them was written, or one came or went', () => {
    const before = new ControlsInReach([ALL, ACME, ONE])
    const known = [lane('acme'), lane('beta'), lane('beta', 'http://one')].map(name => before.of(name))
    const sameAfter = (controls: readonly KnownControl[]): boolean[] => {
      const after = new ControlsInReach(controls, before)
      return [lane('acme'), lane('beta'), lane('beta', 'http://one')].map((name, at) => after.of(name) === known[at])
    }
    assert.deepEqual(sameAfter([{ ...ALL }, { ...ACME }, { ...ONE }]), [true, true, true])
    assert.deepEqual(sameAfter([ALL, { ...ACME, version: 2, endedAt: 5 }, ONE]), [false, true, true])
    assert.deepEqual(sameAfter([ALL, ACME]), [true, true, false])
    assert.deepEqual(sameAfter([ACME, ONE]), [false, false, false])
  })
})
