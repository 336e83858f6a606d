import {
  arrivalsOf,
  factsOf,
  latenciesOf,
  meanReading,
  reportHtml,
  verdictOf,
  withoutRetries,
  type Picture,
  type ReportInput,
  type RunResult,
  type Scenario,
  type Trial,
  type Verdict,
} from '@secondwind/lab'
import type { Answer, Call, Command } from '../command.ts'
import { readOptions } from '../input/read-options.ts'
import { readsInput, typed, typedWith } from '../input/typed.ts'
import { fileAt } from '../output/output-file.ts'
import { drawOn, FILE_READERS, pictureFile, PICTURE_OPTIONS, REPORT_OPTION } from '../output/picture-options.ts'
import type { Table } from '../terminal/table.ts'
import { POLICY_OPTIONS, policyChoiceProblems, readPolicyChoice } from './policy-choice.ts'
import { showFacts } from './show-facts.ts'
import { measure, middlesOf, numbersOf, sayDrawn, type Measured } from './trials.ts'
import { runDeliveries } from './run-deliveries.ts'
import { ANY_SCENARIO_ARGUMENT, OTHER_WORLDS, readAnyWorld, WORLD_OPTIONS, worldProblems } from './world-options.ts'

export const runCommand: Command = {
  path: ['lab', 'run'],
  summary: 'what a policy does to a dependency in trouble, or what the service delivers to it',
  arguments: [ANY_SCENARIO_ARGUMENT],
  options: [
    ...POLICY_OPTIONS,
    ...WORLD_OPTIONS,
    ...PICTURE_OPTIONS,
    REPORT_OPTION,
    { flag: '--csv', say: 'every second as comma-separated values' },
  ],
  examples: [
    'lab run outage --policy payments.json',
    'lab run --outage 30s --budget off --runs 20',
    'lab run delivery-outage --runs 20',
  ],
  run,
}

/** The numbers of all runs, and the one in the middle, which is drawn. */
interface DrawnTrial extends Trial {
  readonly scenario: Scenario
  readonly middle: RunResult
}

async function run(call: Call): Promise<Answer> {
  const { words, args, options, terminal } = call
  const { svg, html } = readOptions(options, FILE_READERS, [
    ...policyChoiceProblems(options),
    ...worldProblems(options),
  ])
  const named = (args[0] as string | undefined) ?? 'outage'
  const choice = await readPolicyChoice(options, terminal)
  const world = await readAnyWorld(named, options, terminal)
  if (world.kind === 'delivery') return runDeliveries(world, choice.typed, call)
  const { at, seeds } = world
  const scenario = at(choice)
  const baselines = [withoutRetries(scenario)]
  const { dependency, worlds } = await measure([scenario], { seeds, baselines }, terminal)
  const [own, once] = worlds as [Measured, Measured]
  const [middle] = (await middlesOf([own], terminal)) as [RunResult]
  const { readings } = own
  const trial: DrawnTrial = { scenario, dependency, middle, readings, once: once.readings, seed: seeds[0]! }
  const verdict = verdictOf(meanReading(readings), meanReading(once.readings))
  const next = nextOf(verdict, { words, options, scenario })
  const picture = arrivalsOf([{ name: 'calls', result: middle }], scenario, dependency)
  return {
    data: {
      scenario,
      seeds,
      dependency,
      ...numbersOf(readings),
      withoutRetries: once.readings,
      judgement: verdict.kind,
      next,
      result: middle,
    },
    csv: seriesTable(middle, dependency),
    show: page => [drawOn(page, picture), showFacts(factsOf(trial), page)].join('\n\n'),
    verdict: verdict.say,
    next,
    files: [
      ...pictureFile(svg, picture),
      ...fileAt(html, () => reportOf(trial, picture, { verdict, next, origin: typed(words) })),
    ],
  }
}

function reportOf(trial: DrawnTrial, picture: Picture, rest: Pick<ReportInput, 'verdict' | 'next' | 'origin'>): string {
  const { scenario, middle, readings } = trial
  const about = [scenario.about, sayDrawn(readings.length, middle.seed)].filter(text => text !== undefined).join('. ')
  return reportHtml({
    title: `${scenario.name}: what the retries do`,
    ...rest,
    facts: factsOf(trial),
    sections: [
      { heading: 'Arrivals', ...(about && { text: about }), picture },
      { heading: 'Latency', picture: latenciesOf([{ name: 'operations', result: middle }]) },
    ],
  })
}

function seriesTable({ stepMs, clients, dependencies }: RunResult, dependency: string): Table {
  const { first, retries, hedges, refused, queue } = dependencies[dependency]!.perStep
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
function nextOf(
  { kind }: Verdict,
  { words, options, scenario }: Pick<Call, 'words' | 'options'> & { readonly scenario: Scenario },
): readonly string[] {
  if (readsInput(words)) return [OTHER_WORLDS]
  const { budget, runs } = options
  if (scenario.clients.every(({ pipeline }) => pipeline === undefined))
    return [typedWith(words, '--policy', 'userFacing')]
  const tighter = budget === 'off' ? '10%' : '10/s'
  if (kind === 'bad' && budget !== tighter) return [typedWith(words, '--budget', tighter)]
  if (runs === undefined) return [typedWith(words, '--runs', '20')]
  return [typedWith(words, '--budget', budget === 'off' ? '10%' : 'off')]
}
