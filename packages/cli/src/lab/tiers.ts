import type { Problem } from '@secondwind/resilience'
import {
  sayNumber,
  sayShare,
  tierLoads,
  tiersWorld,
  type ChainTier,
  type Tier,
  type TierLoad,
  type TierTree,
} from '@secondwind/lab'
import type { Answer, Call, Command, GivenOptions, Option } from '../command.ts'
import { isOn, numberBetween, readOptions, wholeNumber, withDefault } from '../input/read-options.ts'
import { retyped, typed } from '../input/typed.ts'
import { CSV_OPTION } from '../output/csv-option.ts'
import { outputPath } from '../output/output-file.ts'
import { drawOn, PICTURE_OPTIONS, pictureFile } from '../output/picture-options.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { runJobs } from '../threads/run-jobs.ts'
import { showTable, type Cell, type Table } from '../terminal/table.ts'

const TIER_OPTIONS: readonly Option[] = [
  { flag: '--failure <share>', say: 'the share of calls that fail, 0 to 1 (0.5)' },
  { flag: '--independent', say: 'the calls of every tier fail by themselves, not only those of the last' },
]

export const tiersCommand: Command = {
  path: ['lab', 'tiers'],
  summary: 'what one operation becomes when every tier retries',
  arguments: [{ usage: '<tier...>', say: 'each tier from the edge down, with its maxAttempts: edge=3 api=3 db=3' }],
  options: [...TIER_OPTIONS, CSV_OPTION, ...PICTURE_OPTIONS],
  examples: ['lab tiers edge=3 api=3 db=3 --failure 0.5', 'lab tiers edge=3 api=1 db=1'],
  run: showTiers,
}

async function showTiers({ args, options, terminal }: Call): Promise<Answer> {
  const { tiers, problems } = readTiers(args[0] as readonly string[])
  const { failure, independent, svg } = readOptions(
    options,
    { failure: withDefault(0.5, numberBetween(0, 1)), independent: isOn, svg: outputPath },
    problems,
  )
  const loads = tierLoads(tiers, { failureRate: failure, isIndependent: independent })
  const picture = treeOf(loads)
  const last = loads.at(-1)!
  const simulated = independent ? undefined : await simulate(tiers, failure, terminal)
  const verdict = sayVerdict(last, failure)
  const table = tableOf(loads, simulated)
  return {
    data: {
      failureRate: failure,
      independent,
      tiers: loads.map((load, index) => ({ ...load, ...(simulated && { simulated: simulated[index] }) })),
    },
    table,
    show: page => [drawOn(page, picture), showTable(table, page)].join('\n\n'),
    verdict,
    next: [nextOf(tiers, options)],
    files: pictureFile(svg, picture),
  }
}

/** With retries at the edge alone; where that is so already, what a budget makes of them. */
function nextOf(tiers: readonly ChainTier[], options: GivenOptions): string {
  const [edge, ...inner] = tiers as readonly [ChainTier, ...ChainTier[]]
  if (inner.every(({ maxAttempts }) => maxAttempts === 1))
    return typed(['lab', 'compare', JSON.stringify({ maxAttempts: edge.maxAttempts }), '--budget', 'off,10%'])
  const alone = [`${edge.name}=${edge.maxAttempts}`, ...inner.map(({ name }) => `${name}=1`)]
  return typed(['lab', 'tiers', ...alone, ...retyped(options, TIER_OPTIONS)])
}

function readTiers(words: readonly string[]): { tiers: readonly ChainTier[]; problems: readonly Problem[] } {
  const read = words.map(word => {
    const [, name, attempts] = /^([^=]+)=(.*)$/.exec(word) ?? []
    const count = wholeNumber(1, 10_000)(attempts)
    return name !== undefined && 'value' in count ? { name, maxAttempts: count.value } : word
  })
  const say = 'must be a name and its maxAttempts, a whole number from 1 to 10000, such as api=3'
  return {
    tiers: read.filter(tier => typeof tier !== 'string'),
    problems: read.flatMap(word => (typeof word === 'string' ? [{ at: word, is: undefined, say }] : [])),
  }
}

/** Beyond this a run would take minutes, and say the same. */
const MOST_SIMULATED = 1_000

/** What the chain comes to in a simulation: the calls of each tier for one operation. */
async function simulate(
  tiers: readonly ChainTier[],
  failureRate: number,
  terminal: Terminal,
): Promise<readonly number[] | undefined> {
  if (tierLoads(tiers, { failureRate }).at(-1)!.callsPerOperation > MOST_SIMULATED) return undefined
  const scenario = tiersWorld(tiers, failureRate)
  const [run] = await runJobs([{ kind: 'scenario', scenario, seed: 1, isWhole: false }], { label: 'runs', terminal })
  const calls = Object.values(run!.readings).map(({ amplification }) => amplification)
  return calls.slice(1)
}

/** Each tier below the one that calls it; what the last one calls has no name. */
function treeOf(loads: readonly TierLoad[]): TierTree {
  const names = [...loads.slice(1).map(({ name }) => name), 'what it calls']
  const below = loads.reduceRight<Tier[]>((calls, { maxAttempts, callsPerOperation }, index) => {
    return [{ name: names[index]!, callsPerOperation, maxAttempts, calls }]
  }, [])
  return {
    kind: 'tier-tree',
    title: 'tiers',
    root: { name: loads[0]!.name, callsPerOperation: 1, calls: below },
  }
}

function tableOf(loads: readonly TierLoad[], simulated: readonly number[] | undefined): Table {
  return {
    columns: [
      { name: 'tier' },
      { name: 'maxAttempts', align: 'right' },
      { name: 'calls per operation', field: 'callsPerOperation', align: 'right' },
      ...(simulated === undefined ? [] : [{ name: 'simulated', align: 'right' } as const]),
      { name: 'worst case', field: 'worstCase', align: 'right' },
    ],
    rows: loads.map(({ name, maxAttempts, callsPerOperation, worstCase }, index) => [
      name,
      maxAttempts,
      said(callsPerOperation),
      ...(simulated === undefined ? [] : [said(simulated[index]!)]),
      said(worstCase),
    ]),
  }
}

function said(value: number): Cell {
  return { value, say: sayNumber(value) }
}

function sayVerdict({ name, callsPerOperation, worstCase }: TierLoad, failureRate: number): string {
  return (
    `One operation becomes ${sayNumber(callsPerOperation)} calls made by ${name} when ${sayShare(failureRate)} of them fail, ` +
    `and ${sayNumber(worstCase)} when all of them do.`
  )
}
