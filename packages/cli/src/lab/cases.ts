import { WORKED_CASES, type Claim, type WorkedCase } from '@secondwind/lab'
import type { Answer, Call, Command } from '../command.ts'
import { isOn, numberBetween, readOptions, wholeNumber, withDefault } from '../input/read-options.ts'
import { typed } from '../input/typed.ts'
import { CSV_OPTION } from '../output/csv-option.ts'
import { wrap, type Page } from '../terminal/page.ts'
import { showTable, unsaid, type Table } from '../terminal/table.ts'
import { runJobs } from '../threads/run-jobs.ts'
import { chooseByName } from './choose-by-name.ts'
import { MEASURED_FIELDS, measuredCells } from './measured-cells.ts'
import { OTHER_WORLDS } from './world-options.ts'

/** A tenth of the load is enough to tell a claim that holds from one that does not. */
const USUAL_SCALE = 0.1

export const casesCommand: Command = {
  path: ['lab', 'cases'],
  summary: 'incidents as people tell them, what they claim, and what comes out',
  arguments: [{ usage: '[name...]', say: 'only these', choices: WORKED_CASES.map(({ name }) => name) }],
  options: [
    { flag: '--scale <share>', say: `load and capacity, as a share of those in the case (${USUAL_SCALE})` },
    { flag: '--seed <number>', say: 'the seed (1)' },
    { flag: '--list', say: 'only what there is, with the variants that lab run takes' },
    CSV_OPTION,
  ],
  examples: ['lab cases shop', 'lab cases --list'],
  run: showCases,
}

interface Told {
  readonly name: string
  readonly inputs: string
  readonly claims: readonly Claim[]
}

async function showCases({ args, options, terminal }: Call): Promise<Answer> {
  const { scale, seed, list } = readOptions(options, {
    scale: withDefault(USUAL_SCALE, numberBetween(0.001, 1)),
    seed: withDefault(1, wholeNumber(0, Number.MAX_SAFE_INTEGER)),
    list: isOn,
  })
  const chosen = chooseByName(args[0] as readonly string[] | undefined, WORKED_CASES, casesCommand)
  if (list) return listOf(chosen)
  const jobs = chosen.map(({ name }) => ({ kind: 'case', name, scale, seed }) as const)
  const found = await runJobs(jobs, { label: 'cases', terminal })
  const told: Told[] = chosen.map(({ name, inputs }, index) => ({ name, inputs, claims: found[index]! }))
  const claims = told.flatMap(one => one.claims)
  return {
    data: { scale, seed, cases: told },
    table: dataOf(told),
    show: page => told.map(one => showCase(one, page)).join('\n\n'),
    // That a claim of others does not hold is a result, and no failure.
    verdict: sayVerdict(claims),
    next: [OTHER_WORLDS],
  }
}

function sayVerdict(claims: readonly Claim[]): string {
  const count = (judged: boolean | undefined): number => claims.filter(({ holds }) => holds === judged).length
  const [right, wrong, open] = [count(true), count(false), count(undefined)]
  return [
    `${right} of ${right + wrong} claims hold`,
    wrong === 0
      ? 'none does not'
      : wrong === 1
        ? '1 does not, and its note says why'
        : `${wrong} do not, and the notes say why`,
    ...(open === 0 ? [] : [`${open} cannot be judged`]),
  ]
    .join('; ')
    .concat('.')
}

function listOf(chosen: readonly WorkedCase[]): Answer {
  const rows = chosen.flatMap(({ name, variants }) => Object.keys(variants(1)).map(variant => [`${name}/${variant}`]))
  const table: Table = { columns: [{ name: 'scenario' }], rows }
  return {
    data: chosen.map(({ name, inputs, variants }) => ({ name, inputs, variants: Object.keys(variants(1)) })),
    table,
    show: page => showTable(table, page),
    next: [typed(['lab', 'run', String(rows[0]![0])])],
  }
}

const COLUMNS: Table['columns'] = [
  { name: 'claim', isProse: true },
  { name: 'theirs', align: 'right' },
  { name: 'ours', align: 'right' },
  { name: 'holds' },
]

function rowOf({ what, theirs, ours, holds }: Claim): readonly string[] {
  return [what, theirs, ours, holds === undefined ? '—' : holds ? 'yes' : 'NO']
}

/** For other programs: numbers, and words only where something is named. The notes are for who reads the file. */
function dataOf(told: readonly Told[]): Table {
  return {
    columns: ['case', 'claim', ...MEASURED_FIELDS, 'holds', 'note'].map(name => ({ name })),
    rows: told.flatMap(({ name, claims }) =>
      claims.map(({ what, measured, holds, note = '' }) => [
        name,
        what,
        ...measuredCells(measured),
        unsaid(holds),
        note,
      ]),
    ),
  }
}

function showCase({ name, inputs, claims }: Told, page: Page): string {
  const { bold, dim } = page.colors
  const notes = new Set(claims.flatMap(({ note }) => note ?? []))
  return [
    bold(name),
    dim(wrap(`  ${inputs}`, page.columns, '  ')),
    showTable({ columns: COLUMNS, rows: claims.map(rowOf) }, page),
    ...Array.from(notes, note => wrap(`  note  ${note}`, page.columns, '        ')),
  ].join('\n')
}
