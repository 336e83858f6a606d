import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Work } from './work.ts'

/** What a bench has to offer. */
export interface Offer<W extends Work> {
  /** How it is called. */
  readonly command: string
  readonly works: readonly W[]
  readonly roundCount: number
  readonly quickRoundCount: number
}

export interface Options<W extends Work> {
  readonly runCount: number
  readonly roundCount: number
  readonly isQuick: boolean
  readonly works: readonly W[]
  readonly contenders: readonly string[]
  readonly seed: number
  readonly jsonFile: string | undefined
  readonly isStrict: boolean
}

export function usageOf<W extends Work>({ command, works, roundCount, quickRoundCount }: Offer<W>): string {
  return `${command} -- [options]

  --runs <n>          repeat the whole n times (1); a bar is missed if more than half of the runs miss it
  --rounds <n>        rounds per run (${roundCount})
  --quick             rounds: ${quickRoundCount}, for development; its figures prove nothing
  --only <a,b,…>      works whose id begins with one of these (all: ${works.map(({ id }) => id).join(', ')})
  --contenders <a,b>  only these (all: ${contendersOf(works).join(', ')})
  --seed <n>          the order of an earlier run
  --json <file>       write every lap's raw figures
  --strict            exit with 1 if a bar is missed
`
}

type Answer<W extends Work> = Options<W> | 'help' | { readonly problems: readonly string[] }

export function readOptions<W extends Work>(args: readonly string[], offer: Offer<W>): Answer<W> {
  try {
    return checked(parse(args), offer)
  } catch (error) {
    return { problems: [error instanceof Error ? error.message : String(error)] }
  }
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    options: {
      runs: { type: 'string', default: '1' },
      rounds: { type: 'string' },
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

function checked<W extends Work>(values: ReturnType<typeof parse>, offer: Offer<W>): Answer<W> {
  if (values.help) return 'help'

  const problems: string[] = []
  const count = (name: string, text: string): number => {
    const value = Number(text)
    if (!Number.isSafeInteger(value) || value < 1) problems.push(`--${name} ${text}: must be a whole number, 1 or more`)
    return value
  }
  const runCount = count('runs', values.runs)
  const usualRounds = values.quick ? offer.quickRoundCount : offer.roundCount
  const roundCount = count('rounds', values.rounds ?? `${usualRounds}`)
  const seed = values.seed === undefined ? 1 + Math.floor(Math.random() * 999_999) : count('seed', values.seed)

  const known = contendersOf(offer.works)
  const names = listed(values.contenders) ?? known
  for (const name of names) if (!known.includes(name)) problems.push(`--contenders ${name}: no such contender`)
  const contenders = known.filter(name => names.includes(name))

  const prefixes = listed(values.only) ?? ['']
  for (const prefix of prefixes)
    if (!offer.works.some(({ id }) => id.startsWith(prefix))) problems.push(`--only ${prefix}: no such work`)
  const works = offer.works.filter(
    work =>
      prefixes.some(prefix => work.id.startsWith(prefix)) &&
      work.contenders.some(contender => contenders.includes(contender)),
  )

  // npm starts us in this folder; a relative path is meant from where npm was called.
  const jsonFile = values.json && resolve(process.env['INIT_CWD'] ?? '.', values.json)

  if (problems.length > 0) return { problems }
  return { runCount, roundCount, isQuick: values.quick, works, contenders, seed, jsonFile, isStrict: values.strict }
}

function contendersOf(works: readonly Work[]): string[] {
  return [...new Set(works.flatMap(({ contenders }) => contenders))]
}

function listed(text: string | undefined): string[] | undefined {
  return text?.split(',').map(part => part.trim())
}
