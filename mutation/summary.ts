/**
 * Stryker's last report as Markdown: a table for docs/testing.md, then whatever nobody noticed. Fails when a file has
 * less than `LEAST_PERCENT`: an average could hide one.
 */
import { readFileSync } from 'node:fs'

/** The part that we read of https://github.com/stryker-mutator/mutation-testing-elements, report schema 2. */
interface Report {
  readonly files: { readonly [path: string]: { readonly source: string; readonly mutants: readonly Mutant[] } }
}

interface Mutant {
  readonly status: 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage' | 'RuntimeError' | 'CompileError' | 'Ignored'
  readonly location: { readonly start: Place; readonly end: Place }
  readonly replacement?: string
}

/** Both count from 1. */
interface Place {
  readonly line: number
  readonly column: number
}

interface Row {
  readonly file: string
  readonly mutants: number
  readonly killed: number
  readonly survived: number
  readonly noCoverage: number
}

const LEAST_PERCENT = 90
const LONGEST_QUOTE = 100
const SOURCES = 'packages/resilience/src/'

const report = JSON.parse(readFileSync(new URL('reports/mutation.json', import.meta.url), 'utf8')) as Report
const files = Object.entries(report.files).toSorted(([one], [other]) => one.localeCompare(other))
const rows = files.map(([path, { mutants }]) => rowOf(path.replace(SOURCES, ''), mutants))
const all = rowOf(
  'all',
  files.flatMap(([, { mutants }]) => mutants),
)

console.log('\n| file | mutants | killed | survived | no coverage | score |')
console.log('|---|--:|--:|--:|--:|--:|')
for (const row of [...rows, all]) console.log(lineOf(row))

const unnoticed = files.flatMap(([path, { source, mutants }]) =>
  mutants
    .filter(isUnnoticed)
    .toSorted((one, other) => one.location.start.line - other.location.start.line)
    .map(mutant => `- ${path.replace(SOURCES, '')}:${changeOf(source, mutant)}`),
)
if (unnoticed.length > 0) console.log(`\nUnnoticed:\n\n${unnoticed.join('\n')}`)

for (const { file } of rows.filter(row => percentOf(row) < LEAST_PERCENT)) {
  console.error(`${file}: less than ${LEAST_PERCENT} % killed`)
  process.exitCode = 1
}

/** A mutant that never ends is killed too. One that cannot even be run, or holds only a sentence, is no mutant. */
function rowOf(file: string, mutants: readonly Mutant[]): Row {
  const number = (...statuses: readonly Mutant['status'][]): number =>
    mutants.filter(({ status }) => statuses.includes(status)).length
  return {
    file,
    mutants: number('Killed', 'Timeout', 'Survived', 'NoCoverage'),
    killed: number('Killed', 'Timeout'),
    survived: number('Survived'),
    noCoverage: number('NoCoverage'),
  }
}

function lineOf(row: Row): string {
  const { file, mutants, killed, survived, noCoverage } = row
  return `| ${file} | ${mutants} | ${killed} | ${survived} | ${noCoverage} | ${percentOf(row).toFixed(1)} % |`
}

/** Of a file without anything to change, all is killed. */
function percentOf({ mutants, killed }: Row): number {
  return mutants === 0 ? 100 : (100 * killed) / mutants
}

function isUnnoticed({ status }: Mutant): boolean {
  return status === 'Survived' || status === 'NoCoverage'
}

/** `34:7`, what stands there → what could stand there; all on one line. */
function changeOf(source: string, { location: { start, end }, replacement = '' }: Mutant): string {
  const lines = source.split('\n').slice(start.line - 1, end.line)
  lines.push(lines.pop()!.slice(0, end.column - 1))
  lines[0] = lines[0]!.slice(start.column - 1)
  return `${start.line}:${start.column} ${quote(lines.join('\n'))} → ${quote(replacement)}`
}

/** In two backticks, as there may be one in it. */
function quote(code: string): string {
  const line = code.replaceAll(/\s+/g, ' ')
  return `\`\` ${line.length > LONGEST_QUOTE ? `${line.slice(0, LONGEST_QUOTE)} …` : line} \`\``
}
