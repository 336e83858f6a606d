import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { WORKS } from './works/index.ts'
import { CONTENDERS, type ContenderName, type Work } from './works/work.ts'

export const USAGE = `npm run bench -- [options]

  --runs <n>          repeat the whole n times (1); a bar is missed if more than half of the runs miss it
  --laps <n>          laps per run (10)
  --quick             three laps, for development; its figures prove nothing
  --only <A,C,…>      works whose id begins with one of these (all: ${WORKS.map(({ id }) => id).join(', ')})
  --contenders <a,b>  only these (all: ${CONTENDERS.join(', ')})
  --seed <n>          the order of an earlier run
  --json <file>       write every lap's raw figures
  --strict            exit with 1 if a bar is missed
`

export interface Options {
  readonly runCount: number
  readonly lapCount: number
  readonly works: readonly Work[]
  readonly contenders: readonly ContenderName[]
  readonly seed: number
  readonly jsonFile: string | undefined
  readonly isStrict: boolean
}

type Answer = Options | 'help' | { readonly problems: readonly string[] }

export function readOptions(args: readonly string[]): Answer {
  try {
    return checked(parse(args))
  } catch (error) {
    return { problems: [error instanceof Error ? error.message : String(error)] }
  }
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    options: {
      runs: { type: 'string', default: '1' },
      laps: { type: 'string' },
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      contenders: { type: 'string' },
      seed: { type: 'string' },
      json: { type: 'string' },
      strict: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  }).values
}

function checked(values: ReturnType<typeof parse>): Answer {
  if (values.help) return 'help'

  const problems: string[] = []
  const count = (name: string, text: string): number => {
    const value = Number(text)
    if (!Number.isSafeInteger(value) || value < 1) problems.push(`--${name} ${text}: must be a whole number, 1 or more`)
    return value
  }
  const runCount = count('runs', values.runs)
  const lapCount = count('laps', values.laps ?? (values.quick ? '3' : '10'))
  const seed = values.seed === undefined ? 1 + Math.floor(Math.random() * 999_999) : count('seed', values.seed)

  const names = listed(values.contenders) ?? CONTENDERS
  for (const name of names)
    if (!CONTENDERS.some(known => known === name)) problems.push(`--contenders ${name}: no such contender`)
  const contenders = CONTENDERS.filter(known => names.includes(known))

  const prefixes = listed(values.only) ?? ['']
  for (const prefix of prefixes)
    if (!WORKS.some(({ id }) => id.startsWith(prefix))) problems.push(`--only ${prefix}: no such work`)
  const works = WORKS.filter(
    work =>
      prefixes.some(prefix => work.id.startsWith(prefix)) &&
      work.contenders.some(contender => contenders.includes(contender)),
  )

  // npm starts us in this folder; a relative path is meant from where npm was called.
  const jsonFile = values.json && resolve(process.env['INIT_CWD'] ?? '.', values.json)

  if (problems.length > 0) return { problems }
  return { runCount, lapCount, works, contenders, seed, jsonFile, isStrict: values.strict }
}

function listed(text: string | undefined): string[] | undefined {
  return text?.split(',').map(part => part.trim())
}
