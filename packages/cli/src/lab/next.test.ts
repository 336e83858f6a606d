import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import { atTerminal, pasted } from '../command-line.test-kit.ts'

const SMALL = '--load 50/s --capacity 80/s --outage 5s'

/** What is typed, and what is then proposed, one after another. */
const JOURNEYS: readonly (readonly [typed: string, ...proposed: readonly string[]])[] = [
  [
    `lab run ${SMALL} --budget off`,
    `lab run ${SMALL} --budget 10%`,
    `lab run ${SMALL} --budget 10/s`,
    `lab run ${SMALL} --budget 10/s --runs 20`,
    `lab run ${SMALL} --runs 20 --budget off`,
  ],
  [
    `lab compare userFacing stripe ${SMALL} --runs 2`,
    `lab compare userFacing stripe ${SMALL} --runs 2 --html comparison.html`,
    `lab compare userFacing stripe ${SMALL} --runs 2 --seed 3`,
    `lab compare userFacing stripe ${SMALL} --runs 2 --seed 3 --html comparison-2.html`,
  ],
  [`lab sweep --vary policy.maxAttempts=1,3 ${SMALL}`, `lab sweep --vary policy.maxAttempts=1,3 ${SMALL} --runs 20`],
  [
    `lab assert userFacing ${SMALL} --max-peak 9x`,
    `lab assert userFacing ${SMALL} --max-peak 9x --runs 20`,
    'lab run outage --policy userFacing --load 50/s --outage 5s --capacity 80/s --runs 20',
  ],
  ['lab run delivery-flaky', 'lab run delivery-flaky --runs 20', 'lab run delivery-flaky --runs 20 --seed 21'],
  [
    `lab assert '{"maxAttempts":50}' --scenario delivery-flaky --max-recovery 1min`,
    `lab assert '{"maxAttempts":50}' --scenario delivery-flaky --max-recovery 1min --runs 20`,
    `lab run delivery-flaky --policy '{"maxAttempts":50}' --runs 20`,
  ],
  ['lab explain userFacing', 'lab run outage --policy userFacing'],
  ['lab tiers edge=2 db=2', 'lab tiers edge=2 db=1', `lab compare '{"maxAttempts":2}' --budget off,10%`],
  ['lab reproduce --list', 'lab reproduce jitter', 'lab cases'],
  ['lab cases queued-herd', 'lab cases --list', "lab run 'shop/no retries'"],
]

/** These take long, and are started elsewhere. */
const LONG = ['lab cases', "lab run 'shop/no retries'"]

describe('what the lab proposes to type next', () => {
  for (const [first, ...proposed] of JOURNEYS)
    it(`is one command that works when pasted: after ${first}`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'secondwind-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      let line = `secondwind ${first}`
      for (const next of proposed) {
        const { stderr, exitCode } = await pasted(line, folder)
        assert.equal(exitCode, 0, `${line}: ${stderr}`)
        assert.deepEqual(proposalsIn(stderr), [`secondwind ${next}`], line)
        line = `secondwind ${next}`
      }
      if (LONG.includes(proposed.at(-1)!)) return
      const last = await pasted(line, folder)
      assert.equal(last.exitCode, 0, `${line}: ${last.stderr}`)
      assert.equal(proposalsIn(last.stderr).length, 1, line)
    })

  const fromInput: readonly (readonly [input: string, ...words: readonly string[]])[] = [
    ['{"maxAttempts":2}', 'lab', 'explain', '-'],
    ['{"maxAttempts":2}', 'lab', 'run', '--policy', '-', '--outage', '1s'],
    ['{"maxAttempts":2}', 'lab', 'compare', '-', '--budget=off,10%', '--outage', '1s'],
    ['{"maxAttempts":2}', 'lab', 'sweep', '--policy=-', '--vary', 'policy.maxAttempts=1,2', '--outage', '1s'],
    ['{"maxAttempts":2}', 'lab', 'assert', '-', '--max-peak', '1x', '--outage', '1s'],
  ]
  for (const [input, ...words] of fromInput)
    it(`does not read stdin, which is not there any more: after ${words.join(' ')}`, async () => {
      const { stderr } = await atTerminal(words, { input })
      const [line, ...others] = proposalsIn(stderr)
      assert.deepEqual(others, [])
      assert.match(line!, /^secondwind lab (?:advise|cases --list)$/)
    })
})

function proposalsIn(stderr: string): string[] {
  const [, proposals = ''] = /^try {2}((?:.+\n?)*)/m.exec(stderr) ?? []
  return proposals.split('\n').flatMap(line => line.trim() || [])
}
