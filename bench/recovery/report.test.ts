import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Row, Run } from '../../packages/service/src/recovery/row.test-kit.ts'
import { reachedBy, tableOf } from './report.ts'

const ROW: Row = {
  name: 'outage',
  title: '',
  isVirtual: false,
  arrivals: [],
  target: () => () => ({ kind: 'hangs' }),
  endsAtMs: 0,
  measures: [
    { say: 'delivered', unit: 'ms', of: ({ dead }) => dead, must: 2_000, aim: 1_000 },
    { say: 'requests', unit: 'requests', of: () => 3 },
  ],
}

function runWith(dead: number): Run {
  return { row: ROW, tasks: [], beside: [], requests: [], dead }
}

it('holds the median of the rounds against the bar', () => {
  const isHeld = (...figures: readonly number[]) => reachedBy(ROW, figures.map(runWith))[0]!.isHeld
  assert.equal(isHeld(1_000, 2_000, Infinity), true)
  assert.equal(isHeld(1_000, 2_001, 2_001), false)
  assert.equal(isHeld(Infinity, Infinity, 1_000), false)
})

it('shows each figure beside its bars, and says what is missed', () => {
  assert.equal(
    tableOf(reachedBy(ROW, [runWith(2_500)])),
    [
      'row     figure     reached     must   aim    ',
      'outage  delivered  2.5 s       ≤ 2 s  ≤ 1 s  missed',
      '        requests   3 requests',
    ]
      .map(line => line.trimEnd())
      .join('\n'),
  )
})
