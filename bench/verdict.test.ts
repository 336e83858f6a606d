import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { judge, type Lap } from './verdict.ts'
import type { Bar, Work } from './work.ts'

const AT_MOST_TWICE_THE_LOOP: Bar = { figure: 'ns', sign: '≤', limit: 2, times: 'loop' }

function workWith(bar: Bar): Work {
  return {
    id: 'X',
    title: 'a work',
    contenders: ['secondwind', 'loop'],
    figures: [],
    bars: [bar],
  }
}

function lapsOf(run: number, contender: string, values: readonly number[]): Lap[] {
  return values.map((ns, index) => ({ run, round: index + 1, workId: 'X', contender, figures: { ns } }))
}

/** Each run is given as ours ÷ loop. */
function resultOf(bar: Bar, ratios: readonly number[]): string {
  const laps = ratios.flatMap((ratio, index) => [
    ...lapsOf(index + 1, 'secondwind', [ratio * 100]),
    ...lapsOf(index + 1, 'loop', [100]),
  ])
  return judge(workWith(bar), laps, ratios.length)[0]!.result
}

describe('a bar', () => {
  it('is missed by one run alone', () => assert.equal(resultOf(AT_MOST_TWICE_THE_LOOP, [2.1]), 'missed'))
  it('is held if one run of three missed it', () => assert.equal(resultOf(AT_MOST_TWICE_THE_LOOP, [2.1, 1, 1]), 'held'))
  it('is missed if two runs of three missed it', () =>
    assert.equal(resultOf(AT_MOST_TWICE_THE_LOOP, [2.1, 1, 2.1]), 'missed'))

  it('with ≤ is held at its limit, with < it is not', () => {
    assert.equal(resultOf(AT_MOST_TWICE_THE_LOOP, [2]), 'held')
    assert.equal(resultOf({ ...AT_MOST_TWICE_THE_LOOP, sign: '<' }, [2]), 'missed')
  })

  it('without a yardstick is in the unit of its figure', () => {
    assert.equal(resultOf({ figure: 'ns', sign: '≥', limit: 100 }, [1]), 'held')
    assert.equal(resultOf({ figure: 'ns', sign: '≥', limit: 101 }, [1]), 'missed')
  })

  it('is not measured if either side did not run', () => {
    const [verdict] = judge(workWith(AT_MOST_TWICE_THE_LOOP), lapsOf(1, 'secondwind', [1, 2]), 1)
    assert.equal(verdict!.result, 'not measured')
  })

  it('is not measured if the other side does not have the figure', () => {
    const laps: Lap[] = [...lapsOf(1, 'secondwind', [1]), { ...lapsOf(1, 'loop', [1])[0]!, figures: { other: 1 } }]
    assert.equal(judge(workWith(AT_MOST_TWICE_THE_LOOP), laps, 1)[0]!.result, 'not measured')
  })

  it('compares laps of the same round, in whatever order they ran', () => {
    const laps = [...lapsOf(1, 'secondwind', [10, 20, 40]).toReversed(), ...lapsOf(1, 'loop', [10, 20, 40])]
    const [verdict] = judge(workWith(AT_MOST_TWICE_THE_LOOP), laps, 1)
    assert.deepEqual(verdict!.runs, [{ measured: { median: 1, min: 1, max: 1, best: 1 }, isHeld: true }])
  })
})
