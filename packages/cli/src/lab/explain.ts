import { explainPolicy, type Explanation } from '@secondwind/resilience'
import {
  checkProduction,
  delayBandsOf,
  dieFor,
  retryLoad,
  sayMs,
  sayNumber,
  sayRate,
  sayShare,
  type ChecklistPoint,
  type RetryLoad,
} from '@secondwind/lab'
import type { Answer, Call, Command, GivenOptions, Option } from '../command.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { isOn, optional, perSecond, readOptions } from '../input/read-options.ts'
import { POLICY_ARGUMENT, readPolicy } from '../input/read-policy.ts'
import { retyped, typed } from '../input/typed.ts'
import { outputPath } from '../output/output-file.ts'
import { drawOn, PICTURE_OPTIONS, pictureFile } from '../output/picture-options.ts'
import { labelled, wrap, type Page } from '../terminal/page.ts'
import { showTable, type Table } from '../terminal/table.ts'
import { bothOrNeither, type LoadAndCapacity } from './capacity.ts'

const LOAD_OPTION: Option = { flag: '--load <rate>', say: 'calls a second on a usual day, such as 300/s' }
const CAPACITY_OPTION: Option = { flag: '--capacity <rate>', say: 'calls a second that the dependency can serve' }

export const explainCommand: Command = {
  path: ['lab', 'explain'],
  summary: 'what a policy does: waits, worst case, and the production checklist',
  arguments: [POLICY_ARGUMENT],
  options: [
    LOAD_OPTION,
    CAPACITY_OPTION,
    { flag: '--strict', say: 'exit with 6 when a point of the checklist is not met' },
    ...PICTURE_OPTIONS,
  ],
  examples: ['lab explain payments.json', 'lab explain userFacing --load 300/s --capacity 500/s --strict'],
  run: explain,
}

async function explain({ args, options, terminal }: Call): Promise<Answer> {
  const { load, capacity, strict, svg } = readOptions(options, {
    load: optional(perSecond()),
    capacity: optional(perSecond()),
    strict: isOn,
    svg: outputPath,
  })
  const pair = bothOrNeither(load, capacity)
  const named = args[0] as string
  const policy = await readPolicy(named, terminal)
  const headroom = pair === undefined ? {} : { headroom: pair.capacityPerSecond / pair.loadPerSecond }
  // The policy has been checked: neither has a problem with it any more.
  const explanation = explainPolicy(policy) as Explanation
  const checklist = checkProduction(policy, headroom) as readonly ChecklistPoint[]
  const retry = 'retry' in policy ? policy.retry : policy
  const picture = delayBandsOf(retry, {
    title: 'when each attempt begins, if calls fail at once',
    random: dieFor(1, 'delay bands'),
  })
  const loads = pair === undefined ? [] : retryLoadsOf(explanation, retry.maxAttempts, pair)
  const isOpen = checklist.some(({ verdict }) => verdict === 'not-met')
  return {
    data: { policy, explanation, ...(pair && { retryLoad: loads }), checklist },
    show: page =>
      [showExplanation(explanation, loads, page), drawOn(page, picture), showChecklist(checklist, page)].join('\n\n'),
    verdict: sayVerdict(checklist),
    // What was read from stdin cannot be read again.
    next: [isOpen || named === '-' ? typed(['lab', 'advise']) : nextOf(named, options)],
    files: pictureFile(svg, picture),
    exitCode: strict && isOpen ? EXIT_CODES.no : EXIT_CODES.done,
  }
}

function sayVerdict(checklist: readonly ChecklistPoint[]): string {
  const visible = checklist.filter(({ verdict }) => verdict !== 'not-visible')
  const open = visible.filter(({ verdict }) => verdict === 'not-met').map(({ id }) => id)
  const all = `${visible.length} points of the checklist that a policy can show`
  return open.length === 0
    ? `All ${all} are met.`
    : `Of the ${all} ${open.length} ${open.length === 1 ? 'is' : 'are'} not met: ${open.join(', ')}.`
}

function nextOf(named: string, options: GivenOptions): string {
  const load = retyped(options, [LOAD_OPTION, CAPACITY_OPTION])
  return typed(['lab', 'run', 'outage', '--policy', named, ...load])
}

const LABEL_WIDTH = 25

interface LoadAt extends RetryLoad {
  readonly failureRate: number
}

/** What the dependency is called at each failure rate, without a budget: the closed form. */
function retryLoadsOf(
  { amplification }: Explanation,
  maxAttempts: number,
  { loadPerSecond }: LoadAndCapacity,
): readonly LoadAt[] {
  return amplification.map(({ failureRate }) => ({
    failureRate,
    ...retryLoad({ operationsPerSecond: loadPerSecond, maxAttempts, failureRate }),
  }))
}

function showExplanation(explanation: Explanation, loads: readonly LoadAt[], page: Page): string {
  const { sentence, maxCalls, rideOut, totalWait, latestFinishMs, certainAttempts, budgetBound } = explanation
  const line = (label: string, text: string): string =>
    labelled(`  ${label}`, text, { columns: page.columns, width: LABEL_WIDTH })
  const facts = [
    line('calls at most', `${maxCalls} for each operation`),
    line('waits', `${sayMs(totalWait.expectedMs)} on average, ${sayMs(totalWait.longestMs)} at the most`),
    line('rides out', `${sayMs(rideOut.shortestMs)} surely, ${sayMs(rideOut.longestMs)} at the most, of an outage`),
    line('ends', `after ${sayMs(latestFinishMs)} at the latest`),
    line('when calls hang', `${certainAttempts} ${certainAttempts === 1 ? 'attempt is' : 'attempts are'} made`),
    ...(budgetBound === undefined
      ? []
      : [line('in a long outage', `${sayNumber(budgetBound)} calls for each operation, held by the budget`)]),
  ]
  const warnings = explanation.warnings.map(({ level, at, say }) => line(level, `${at}: ${say}`))
  return [
    wrap(sentence, page.columns),
    facts.join('\n'),
    showTable(amplificationTable(explanation, loads), page),
    ...(warnings.length > 0 ? [warnings.join('\n')] : []),
  ].join('\n\n')
}

/** With the calls of a second where the load is known. */
function amplificationTable({ amplification }: Explanation, loads: readonly LoadAt[]): Table {
  const names = ['failing calls', 'calls per operation', 'succeeded', ...(loads.length > 0 ? ['calls', 'retries'] : [])]
  return {
    columns: names.map(name => ({ name, align: 'right' })),
    rows: amplification.map(({ failureRate, callsPerOperation, successRate }, place) => {
      const load = loads[place]
      return [
        sayShare(failureRate),
        sayNumber(callsPerOperation),
        sayShare(successRate),
        ...(load === undefined ? [] : [sayRate(load.callsPerSecond), sayRate(load.retriesPerSecond)]),
      ]
    }),
  }
}

const ORDER: readonly ChecklistPoint['verdict'][] = ['not-met', 'met', 'not-visible']
const GLYPHS = { met: '✓', 'not-met': '✕', 'not-visible': '·' } as const
const WORDS = { met: 'met', 'not-met': 'not met', 'not-visible': 'not visible from a policy' } as const

function showChecklist(points: readonly ChecklistPoint[], page: Page): string {
  const groups = ORDER.map(verdict => ({ verdict, found: points.filter(point => point.verdict === verdict) }))
  const sum = groups.map(({ verdict, found }) => `${found.length} ${WORDS[verdict]}`).join(', ')
  return [
    wrap(`production checklist: ${sum}`, page.columns, '  '),
    ...groups.flatMap(({ found }) => found.map(point => showPoint(point, page))),
  ].join('\n')
}

function showPoint({ id, verdict, say, because }: ChecklistPoint, { columns, colors }: Page): string {
  const paint = { met: colors.green, 'not-met': colors.red, 'not-visible': colors.dim }[verdict]
  const text = labelled(`  ${GLYPHS[verdict]} ${id}`, `${say}: ${because}`, { columns, width: 8 })
  return paint(text)
}
