import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type Options, readOptions } from './options.ts'
import { WORKS } from './works/index.ts'
import { CONTENDERS, type LibraryWork } from './works/work.ts'

const OFFER = { command: 'npm run bench', works: WORKS, roundCount: 10, quickRoundCount: 3 }

function accepted(...args: string[]): Options<LibraryWork> {
  const answer = readOptions(args, OFFER)
  assert.ok(answer !== 'help' && !('problems' in answer))
  return answer
}

it('runs everything once, as often as usual, unless told otherwise', () => {
  const { runCount, roundCount, works, contenders, isStrict } = accepted()
  assert.deepEqual({ runCount, roundCount, isStrict }, { runCount: 1, roundCount: 10, isStrict: false })
  assert.deepEqual(works, WORKS)
  assert.equal(contenders.length, CONTENDERS.length)
})

it('makes a quick run one of few rounds', () => assert.equal(accepted('--quick').roundCount, 3))

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
  const answer = readOptions(['--rounds', '0', '--only', 'Z', '--contenders', 'nobody', '--seed', 'x'], OFFER)
  assert.deepEqual(answer, {
    problems: [
      '--rounds 0: must be a whole number, 1 or more',
      '--seed x: must be a whole number, 1 or more',
      '--contenders nobody: no such contender',
      '--only Z: no such work',
    ],
  })
})

it('refuses an option it does not know', () => {
  const answer = readOptions(['--fast'], OFFER)
  assert.ok(answer !== 'help' && 'problems' in answer && answer.problems[0]?.includes('--fast'))
})
