import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type Options, readOptions } from './options.ts'

function accepted(...args: string[]): Options {
  const answer = readOptions(args)
  assert.ok(answer !== 'help' && !('problems' in answer))
  return answer
}

it('runs everything once, ten laps, unless told otherwise', () => {
  const { runCount, lapCount, works, contenders, isStrict } = accepted()
  assert.deepEqual({ runCount, lapCount, isStrict }, { runCount: 1, lapCount: 10, isStrict: false })
  assert.deepEqual(
    works.map(({ id }) => id),
    ['A', 'A2', 'B', 'C', 'D1', 'D2', 'E'],
  )
  assert.equal(contenders.length, 7)
})

it('makes a quick run one of three laps', () => assert.equal(accepted('--quick').lapCount, 3))

it('takes every work whose id begins as asked', () => {
  assert.deepEqual(
    accepted('--only', 'A2,D').works.map(({ id }) => id),
    ['A2', 'D1', 'D2'],
  )
})

it('leaves out works in which no asked contender takes part', () => {
  assert.ok(accepted('--contenders', 'loop').works.every(({ id }) => id !== 'E'))
})

it('reports every problem together', () => {
  const answer = readOptions(['--laps', '0', '--only', 'Z', '--contenders', 'nobody', '--seed', 'x'])
  assert.deepEqual(answer, {
    problems: [
      '--laps 0: must be a whole number, 1 or more',
      '--seed x: must be a whole number, 1 or more',
      '--contenders nobody: no such contender',
      '--only Z: no such work',
    ],
  })
})

it('refuses an option it does not know', () => {
  const answer = readOptions(['--fast'])
  assert.ok(answer !== 'help' && 'problems' in answer && answer.problems[0]?.includes('--fast'))
})
