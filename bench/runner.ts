/**
 * Runs laps and shows what they came to. A round goes through all works and, within each, through its contenders in
 * an order drawn anew, so that whatever happens on the machine happens to all of them.
 */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { type Offer, type Options, readOptions, usageOf } from './options.ts'
import { digits, tablesOf, verdictTable } from './report.ts'
import { seededRandom, shuffle } from './statistics.ts'
import { judge, type Lap } from './verdict.ts'
import type { Figures, Work } from './work.ts'

/** How the laps of a bench are run. */
export interface Track<W extends Work> {
  readonly lap: (work: W, contender: string) => Promise<Figures>
  /** What else a reader must know of the machine, in words. */
  readonly conditions?: readonly string[]
}

const EXIT = { missed: 1, broken: 2 }

/** The whole command: reads the options, has the track laid, runs. */
export async function main<W extends Work>(
  offer: Offer<W>,
  run: (options: Options<W>) => Promise<void>,
): Promise<void> {
  const asked = readOptions(process.argv.slice(2), offer)
  if (asked === 'help') process.stdout.write(usageOf(offer))
  else if ('problems' in asked) refuse(`${asked.problems.join('\n')}\n\n${usageOf(offer)}`)
  else await run(asked).catch((error: unknown) => refuse(`the bench broke: ${String(error)}\n`))
}

function refuse(message: string): void {
  process.stderr.write(message)
  process.exitCode = EXIT.broken
}

export async function bench<W extends Work>(options: Options<W>, track: Track<W>): Promise<void> {
  const { runCount, roundCount, works, seed } = options
  const { conditions = [] } = track
  const environment = {
    node: process.version,
    cpuCount: availableParallelism(),
    loadAverage: loadavg()[0]!,
    roundCount,
    runCount,
    seed,
    conditions,
  }
  print(
    `Node ${environment.node}, ${environment.cpuCount} CPUs, load ${digits(environment.loadAverage)} at start, ` +
      `${runCount} × ${roundCount} rounds, seed ${seed}`,
  )
  for (const line of conditions) print(line)

  const laps: Lap[] = []
  const random = seededRandom(seed)
  for (let run = 1; run <= runCount; run++) {
    await measureRun(options, track, { run, random, laps })
    if (runCount > 1) print(`\nRun ${run} of ${runCount}`)
    for (const work of works) print(`\n${tablesOf(work, laps, run)}`)
  }

  const verdicts = works.flatMap(work => judge(work, laps, runCount))
  print(
    `\nBars: each run's figure with its spread over the rounds, "!" where the run missed it\n${verdictTable(verdicts)}`,
  )
  if (options.jsonFile !== undefined) {
    const results = verdicts.map(({ work, ...verdict }) => ({ workId: work.id, ...verdict }))
    writeFileSync(options.jsonFile, `${JSON.stringify({ environment, verdicts: results, laps }, undefined, 2)}\n`)
  }
  if (options.isStrict && verdicts.some(({ bar, result }) => result === 'missed' && !bar.isGoal))
    process.exitCode = EXIT.missed
}

interface Progress {
  readonly run: number
  readonly random: () => number
  /** Every lap measured so far, added to as they come. */
  readonly laps: Lap[]
}

async function measureRun<W extends Work>(
  options: Options<W>,
  track: Track<W>,
  { run, random, laps }: Progress,
): Promise<void> {
  const { works, contenders } = options
  const roundsOf = new Map(works.map(work => [work, roundsFor(work, options)]))
  const mostRounds = Math.max(...roundsOf.values())
  for (let round = 1; round <= mostRounds; round++) {
    for (const work of works.filter(work => round <= roundsOf.get(work)!)) {
      const line = [`run ${run} round ${round} ${work.id}:`]
      const taking = work.contenders.filter(contender => contenders.includes(contender))
      for (const contender of shuffle(taking, random)) {
        const figures = await track.lap(work, contender)
        laps.push({ run, round, workId: work.id, contender, figures })
        line.push(`${contender} ${digits(figures[work.figures[0]!.key]!)}`)
      }
      process.stderr.write(`${line.join('  ')}\n`)
    }
  }
}

function roundsFor({ leastRounds = 1 }: Work, { roundCount, isQuick }: Options<Work>): number {
  return isQuick ? roundCount : Math.max(roundCount, leastRounds)
}

export interface Surroundings {
  readonly cwd: string
  readonly timeoutMs: number
  /** Besides our own variables. */
  readonly env?: { readonly [name: string]: string }
}

/** The JSON that a Node process of its own printed. */
export function inOwnProcess<Result>(line: readonly string[], surroundings: Surroundings): Promise<Result> {
  const { cwd, timeoutMs, env } = surroundings
  const child = spawn(process.execPath, line, {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: timeoutMs,
    env: { ...process.env, ...env },
  })
  const takeAlong = (): void => void child.kill('SIGKILL')
  process.once('exit', takeAlong)
  let output = ''
  child.stdout.setEncoding('utf8').on('data', text => (output += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      process.off('exit', takeAlong)
      if (code === 0) resolve(JSON.parse(output))
      else reject(new Error(`\`${line.join(' ')}\` broke off: ${signal ?? `exit code ${code}`}`))
    })
  })
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
