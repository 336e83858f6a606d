import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

export interface Options {
  readonly killCount: number
  readonly taskCount: number
  readonly seed: number
  /** Whether the folder stays after a run that found nothing. */
  readonly isKept: boolean
  /** The built command line whose `serve` is tried. */
  readonly command: string
}

export const USAGE = `npm run soak -- [options]

  --kills <n>        how often the service is killed (50)
  --tasks <n>        how many tasks it accepts (20000)
  --seed <n>         the answers and the draws of an earlier run; the machine's timing is its own
  --keep             keeps the folder with the ledger, the log and the data; a run that fails keeps it anyway
  --command <file>   secondwind.js of another build
`

const OWN_COMMAND = join(import.meta.dirname, '../../packages/cli/bin/secondwind.js')

/** Together they leave each task a number of its own below 2 ** 53. */
export const MOST_TASKS = 1_000_000
const MOST_SEED = 1_000_000_000

/** All problems together, or the options. */
export function readOptions(args: readonly string[]): Options | { readonly problems: readonly string[] } {
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
      kills: { type: 'string', default: '50' },
      tasks: { type: 'string', default: '20000' },
      seed: { type: 'string' },
      keep: { type: 'boolean', default: false },
      command: { type: 'string' },
    },
  }).values
}

function checked(values: ReturnType<typeof parse>): ReturnType<typeof readOptions> {
  const problems: string[] = []
  const whole = (name: string, text: string, least: number, most: number): number => {
    const value = Number(text)
    if (!Number.isSafeInteger(value) || value < least || value > most)
      problems.push(`--${name} ${text}: must be a whole number from ${least} to ${most}`)
    return value
  }
  const killCount = whole('kills', values.kills, 0, 10_000)
  const taskCount = whole('tasks', values.tasks, 1, MOST_TASKS)
  const seed =
    values.seed === undefined ? 1 + Math.floor(Math.random() * 999_999) : whole('seed', values.seed, 0, MOST_SEED)
  // npm starts us in the root of the repository; a relative path is meant from where npm was called.
  const command = values.command === undefined ? OWN_COMMAND : resolve(process.env['INIT_CWD'] ?? '.', values.command)
  return problems.length > 0 ? { problems } : { killCount, taskCount, seed, isKept: values.keep, command }
}
