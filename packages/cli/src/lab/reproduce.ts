import { REPRODUCTIONS, type Finding } from '@secondwind/lab'
import type { Answer, Call, Command } from '../command.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { isOn, readOptions } from '../input/read-options.ts'
import { typed } from '../input/typed.ts'
import { CSV_OPTION } from '../output/csv-option.ts'
import { wrap, type Page } from '../terminal/page.ts'
import { showTable, unsaid, type Table } from '../terminal/table.ts'
import { runJobs } from '../threads/run-jobs.ts'
import { chooseByName } from './choose-by-name.ts'
import { MEASURED_FIELDS, measuredCells } from './measured-cells.ts'

export const reproduceCommand: Command = {
  path: ['lab', 'reproduce'],
  summary: 'published results, ours beside theirs',
  arguments: [{ usage: '[name...]', say: 'only these', choices: REPRODUCTIONS.map(({ name }) => name) }],
  options: [
    { flag: '--thorough', say: 'as many runs as the tolerances ask for' },
    { flag: '--list', say: 'only what there is, and who found it' },
    CSV_OPTION,
  ],
  examples: ['lab reproduce', 'lab reproduce --thorough --json'],
  run: reproduce,
}

interface Reproduced {
  readonly name: string
  readonly source: string
  readonly inputs: string
  readonly findings: readonly Finding[]
}

async function reproduce({ args, options, terminal }: Call): Promise<Answer> {
  const { thorough, list } = readOptions(options, { thorough: isOn, list: isOn })
  const chosen = chooseByName(args[0] as readonly string[] | undefined, REPRODUCTIONS, reproduceCommand)
  if (list) return listOf(chosen)
  const effort = thorough ? 'thorough' : 'quick'
  const jobs = chosen.map(({ name }) => ({ kind: 'reproduction', name, effort }) as const)
  const found = await runJobs(jobs, { label: 'results', terminal })
  const all: Reproduced[] = chosen.map(({ name, source, inputs }, index) => ({
    name,
    source,
    inputs,
    findings: found[index]!,
  }))
  const findings = all.flatMap(one => one.findings)
  const missed = findings.filter(({ isReproduced }) => !isReproduced)
  return {
    data: { effort, reproductions: all, isReproduced: missed.length === 0 },
    table: dataOf(all),
    show: page => all.map(one => showOne(one, page)).join('\n\n'),
    verdict:
      missed.length === 0
        ? `All ${findings.length} published results come out here too.`
        : `${missed.length} of ${findings.length} published results do not come out here: ${missed.map(({ what }) => what).join('; ')}.`,
    next: [nextOf(all, thorough)],
    exitCode: missed.length === 0 ? EXIT_CODES.done : EXIT_CODES.no,
  }
}

/** What chance may have spoilt, once more with more runs; else what is claimed elsewhere, and by whom. */
function nextOf(all: readonly Reproduced[], thorough: boolean): string {
  const missed = all.filter(({ findings }) => findings.some(({ isReproduced }) => !isReproduced))
  if (missed.length === 0) return typed(['lab', 'cases'])
  return typed(['lab', 'reproduce', ...(thorough ? ['--list'] : [...missed.map(({ name }) => name), '--thorough'])])
}

function listOf(chosen: typeof REPRODUCTIONS): Answer {
  const table: Table = {
    columns: [{ name: 'name' }, { name: 'source', isProse: true }],
    rows: chosen.map(({ name, source }) => [name, source]),
  }
  return {
    data: chosen.map(({ name, source, inputs }) => ({ name, source, inputs })),
    table,
    show: page => showTable(table, page),
    next: [typed(['lab', 'reproduce', chosen[0]!.name])],
  }
}

const COLUMNS: Table['columns'] = [
  { name: 'result', isProse: true },
  { name: 'theirs', align: 'right', isProse: true },
  { name: 'ours', align: 'right', isProse: true },
  { name: 'tolerance', align: 'right' },
  { name: 'verdict' },
]

function rowOf({ what, theirs, ours, tolerance, isReproduced }: Finding): readonly string[] {
  return [what, theirs, ours, tolerance, isReproduced ? 'pass' : 'FAIL']
}

/** For other programs: numbers, and words only where something is named. */
function dataOf(all: readonly Reproduced[]): Table {
  return {
    columns: ['name', 'result', ...MEASURED_FIELDS, 'isReproduced'].map(name => ({ name })),
    rows: all.flatMap(({ name, findings }) =>
      findings.map(({ what, measured, isReproduced }) => [
        name,
        what,
        ...measuredCells(measured),
        unsaid(isReproduced),
      ]),
    ),
  }
}

function showOne({ name, source, inputs, findings }: Reproduced, page: Page): string {
  const { bold, dim } = page.colors
  return [
    bold(name),
    dim(wrapped(source, page)),
    dim(wrapped(inputs, page)),
    showTable({ columns: COLUMNS, rows: findings.map(rowOf) }, page),
  ].join('\n')
}

function wrapped(text: string, { columns }: Page): string {
  return wrap(`  ${text}`, columns, '  ')
}
