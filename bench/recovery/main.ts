/**
 * How soon the service has delivered what waited, once a destination is back, and what it asks of it meanwhile:
 *
 *     npm run bench:recovery -- [--row <name>] [--rounds <n>]
 *
 * One row after the other, so that none takes time from another. Exits with 1 where a bar is missed. Below the table stands
 * what the lab predicts of some figures.
 */
import { parseArgs } from 'node:util'
import { ROWS } from '../../packages/service/src/recovery/rows.test-kit.ts'
import type { Row, Run } from '../../packages/service/src/recovery/row.test-kit.ts'
import { runLive } from './live-run.ts'
import { predictionsFor } from './prediction.ts'
import { reachedBy, tableOf, type Reached } from './report.ts'

const LIVE = ROWS.filter(({ isVirtual }) => !isVirtual)

const { values } = parseArgs({ options: { row: { type: 'string' }, rounds: { type: 'string', default: '1' } } })
const rounds = Number(values.rounds)
const rows = values.row === undefined ? LIVE : LIVE.filter(({ name }) => name === values.row)
if (rows.length === 0 || !Number.isSafeInteger(rounds) || rounds < 1) {
  process.stderr.write(`--row <name>    one of ${LIVE.map(({ name }) => name).join(', ')}\n`)
  process.stderr.write('--rounds <n>    1 or more; the median of the rounds is shown\n')
  process.exit(2)
}

const reached: Reached[] = []
for (const row of rows) reached.push(...reachedBy(row, await runsOf(row)))
process.stdout.write(`${tableOf(reached)}\n`)
for (const line of predictionsFor(reached)) process.stdout.write(`${line}\n`)
process.exitCode = reached.some(({ isHeld }) => isHeld === false) ? 1 : 0

async function runsOf(row: Row): Promise<Run[]> {
  const runs: Run[] = []
  for (let round = 1; round <= rounds; round++) {
    process.stderr.write(`${row.name}, round ${round} of ${rounds}: ${row.title}\n`)
    runs.push(await runLive(row, round))
  }
  return runs
}
