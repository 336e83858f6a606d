import {
  arrivalsOf,
  estimate,
  latenciesOf,
  meanReading,
  middleOf,
  readingOf,
  reportHtml,
  sayMs,
  sayNumber,
  sayRate,
  sayShare,
  sayTimes,
  verdictOf,
  withoutRetries,
  worstOf,
  type Fact,
  type Measure,
  type Reading,
  type ReportInput,
  type RunResult,
  type Scenario,
  type Verdict,
} from '@secondwind/lab'
import type { Answer, Call, Command, GivenOptions } from '../command.ts'
import { readOptions } from '../input/read-options.ts'
import { typed, typedWith } from '../input/typed.ts'
import {
  drawOn,
  htmlFile,
  PICTURE_OPTIONS,
  REPORT_OPTION,
  svgFile,
  writePicture,
  writeReport,
} from '../output/picture-options.ts'
import { labelled, type Page } from '../terminal/page.ts'
import type { Table } from '../terminal/table.ts'
import { runJobs } from '../threads/run-jobs.ts'
import { POLICY_OPTIONS, readPolicyOptions, readWorld, SCENARIO_ARGUMENT, WORLD_OPTIONS } from './world-options.ts'

export const runCommand: Command = {
  path: ['lab', 'run'],
  summary: 'what a policy does to a dependency in trouble',
  arguments: [{ usage: '[scenario]', say: `${SCENARIO_ARGUMENT} (outage)` }],
  options: [
    ...POLICY_OPTIONS,
    ...WORLD_OPTIONS,
    ...PICTURE_OPTIONS,
    REPORT_OPTION,
    { flag: '--csv', say: 'every second as comma-separated values' },
  ],
  examples: ['lab run outage --policy payments.json', 'lab run --outage 30s --budget off --runs 20'],
  run,
}

/** One run in its middle, and the numbers of all. */
interface Trial {
  readonly scenario: Scenario
  readonly middle: RunResult
  readonly readings: readonly Reading[]
  readonly once: readonly Reading[]
}

async function run({ words, args, options, terminal }: Call): Promise<Answer> {
  const { svg, html } = readOptions(options, { svg: svgFile, html: htmlFile })
  const named = (args[0] as string | undefined) ?? 'outage'
  const policy = await readPolicyOptions(options, terminal)
  const { at, seeds } = await readWorld(named, options, terminal)
  const scenario = at(policy)
  const worlds = [scenario, withoutRetries(scenario)]
  const jobs = worlds.flatMap(world => seeds.map(seed => ({ kind: 'scenario', scenario: world, seed }) as const))
  const results = await runJobs(jobs, { label: 'runs', terminal })
  const withRetries = results.slice(0, seeds.length)
  const trial: Trial = {
    scenario,
    middle: middleOf(withRetries, result => readingOf(result).peakPerSecond),
    readings: withRetries.map(readingOf),
    once: results.slice(seeds.length).map(readingOf),
  }
  const verdict = verdictOf(meanReading(trial.readings), meanReading(trial.once))
  const next = nextOf(verdict, words, options)
  const picture = arrivalsOf([{ name: 'calls', result: trial.middle }], scenario)
  await writePicture(svg, picture, terminal)
  await writeReport(html, () => reportOf(trial, { verdict, next, origin: typed(words) }), terminal)
  return {
    data: {
      scenario,
      seeds,
      readings: trial.readings,
      withoutRetries: trial.once,
      verdict,
      next,
      result: trial.middle,
    },
    csv: seriesTable(trial.middle),
    show: page => [drawOn(page, picture), showFacts(trial, page)].join('\n\n'),
    verdict: verdict.say,
    next,
  }
}

function factsOf({ readings, once, middle }: Trial): Fact[] {
  const mean = meanReading(readings)
  const say = (measure: Measure, show: (value: number) => string): string => {
    const found = estimate(readings, measure)
    if (found === undefined) return 'never'
    const [low, high] = [show(Math.max(0, found.low)), show(found.high)]
    return low === high ? show(found.mean) : `${show(found.mean)} (${low} to ${high})`
  }
  const [dependency] = worstOf(middle)
  const { overCapacityMs } = mean
  const over = overCapacityMs ? `, over its capacity for ${sayMs(overCapacityMs)}` : ', never over its capacity'
  const hasTrouble = middle.recovery.troubleEndsAtMs !== undefined
  return [
    {
      name: `peak at ${dependency}`,
      value: say('peakPerSecond', sayRate),
      note: `${sayTimes(mean.peakTimes)} that without retries${overCapacityMs === undefined ? '' : over}`,
    },
    { name: 'calls per operation', value: say('amplification', sayNumber) },
    {
      name: 'served',
      value: say('servedShare', sayShare),
      note: `${sayShare(meanReading(once).servedShare)} without retries`,
    },
    { name: 'half served within', value: say('p50Ms', sayMs), note: `99 in 100 within ${sayMs(mean.p99Ms)}` },
    ...(hasTrouble
      ? [{ name: 'recovered', value: say('recoveredAfterMs', ms => (ms === 0 ? 'at once' : `after ${sayMs(ms)}`)) }]
      : []),
    {
      name: 'seed',
      value: readings.length === 1 ? String(middle.seed) : `${readings.length} of them, with 95 % confidence`,
    },
  ]
}

function showFacts(trial: Trial, { columns }: Page): string {
  return factsOf(trial)
    .map(({ name, value, note }) =>
      labelled(`  ${name}`, note === undefined ? value : `${value}   ${note}`, { columns, width: 26 }),
    )
    .join('\n')
}

function reportOf(trial: Trial, rest: Pick<ReportInput, 'verdict' | 'next' | 'origin'>): string {
  const { scenario, middle } = trial
  const runs = [{ name: 'calls', result: middle }]
  return reportHtml({
    title: `${scenario.name}: what the retries do`,
    ...rest,
    facts: factsOf(trial),
    sections: [
      { heading: 'Arrivals', ...(scenario.about && { text: scenario.about }), picture: arrivalsOf(runs, scenario) },
      { heading: 'Latency', picture: latenciesOf([{ name: 'operations', result: middle }]) },
    ],
  })
}

function seriesTable({ stepMs, clients, dependencies, ...result }: RunResult): Table {
  const [name] = worstOf({ stepMs, clients, dependencies, ...result })
  const { first, retries, hedges, refused, queue } = dependencies[name]!.perStep
  const good = Object.values(clients).map(({ perStep }) => perStep.good)
  return {
    columns: ['atMs', 'first', 'retries', 'hedges', 'refused', 'queue', 'good'].map(column => ({ name: column })),
    rows: first.map((count, step) => [
      step * stepMs,
      count,
      retries[step]!,
      hedges[step]!,
      refused[step]!,
      queue[step]!,
      good.reduce((sum, counts) => sum + (counts[step] ?? 0), 0),
    ]),
  }
}

/** The same command with a budget, when it was without; else the other way to look at it. */
function nextOf({ kind }: Verdict, words: readonly string[], { budget, runs }: GivenOptions): readonly string[] {
  if (kind === 'bad') return [typedWith(words, '--budget', budget === 'off' ? '10%' : '10/s')]
  return [runs === undefined ? typedWith(words, '--runs', '20') : typedWith(words, '--budget', 'off')]
}
