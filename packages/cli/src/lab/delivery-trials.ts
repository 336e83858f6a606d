/** A delivery with every seed: all readings, and the run in the middle whole. */
import { middleOf, type DeliveryReading, type DeliveryScenario, type DeliveryTrial } from '@secondwind/lab'
import type { Terminal } from '../terminal/terminal.ts'
import { runJobs } from '../threads/run-jobs.ts'

export async function measureDeliveries(
  scenario: DeliveryScenario,
  seeds: readonly number[],
  terminal: Terminal,
): Promise<DeliveryTrial> {
  const isWhole = seeds.length === 1
  const jobs = seeds.map(seed => ({ kind: 'delivery', scenario, seed, isWhole }) as const)
  const runs = await runJobs(jobs, { label: 'runs', terminal })
  const seen = runs.map(({ reading, result }, place) => ({ reading, result, seed: seeds[place] ?? 0 }))
  const { seed, result } = middleOf(seen, ({ reading }) => recoveryOf(reading))
  const [first = 0] = seeds
  const readings = runs.map(({ reading }) => reading)
  if (result !== undefined) return { readings, middle: result, seed: first }
  // It is run once more, which gives the same bytes: all of them whole would fill the memory.
  const [again] = await runJobs([{ kind: 'delivery', scenario, seed, isWhole: true } as const], {
    label: 'pictures',
    terminal,
  })
  if (again?.result === undefined) throw new Error('a run that was asked for whole has no result')
  return { readings, middle: again.result, seed: first }
}

/** A run that never recovers is the worst. */
function recoveryOf({ gone99AfterMs = Infinity }: DeliveryReading): number {
  return gone99AfterMs
}
