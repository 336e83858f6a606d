/**
 * The runner. Every (contender, work) lap is a fresh process; a lap goes through all works and, within each,
 * through its contenders in an order drawn anew, so that whatever happens on the machine happens to all of them.
 */
import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { type Options, readOptions, USAGE } from './options.ts'
import { digits, tablesOf, verdictTable } from './report.ts'
import { seededRandom, shuffle } from './statistics.ts'
import { judge, type Lap } from './verdict.ts'
import type { ContenderName, Figures, Work } from './works/work.ts'

const OURS = new URL('../packages/resilience/dist/index.js', import.meta.url)
const LAP_TIMEOUT_MS = 120_000
const EXIT = { missed: 1, broken: 2 }

const asked = readOptions(process.argv.slice(2))
if (asked === 'help') process.stdout.write(USAGE)
else if ('problems' in asked) refuse(`${asked.problems.join('\n')}\n\n${USAGE}`)
else if (asked.contenders.includes('secondwind') && !existsSync(OURS))
  refuse('packages/resilience is not built; run `npm run build` in the repository root first\n')
else await bench(asked).catch((error: unknown) => refuse(`the bench broke: ${String(error)}\n`))

function refuse(message: string): void {
  process.stderr.write(message)
  process.exitCode = EXIT.broken
}

async function bench(options: Options): Promise<void> {
  const { runCount, lapCount, works, seed } = options
  const environment = {
    node: process.version,
    cpuCount: availableParallelism(),
    loadAverage: loadavg()[0]!,
    lapCount,
    runCount,
    seed,
  }
  print(
    `Node ${environment.node}, ${environment.cpuCount} CPUs, load ${digits(environment.loadAverage)} at start, ` +
      `${runCount} × ${lapCount} laps, seed ${seed}`,
  )

  const laps: Lap[] = []
  const random = seededRandom(seed)
  for (let run = 1; run <= runCount; run++) {
    await measureRun(options, { run, random, laps })
    if (runCount > 1) print(`\nRun ${run} of ${runCount}`)
    for (const work of works) print(`\n${tablesOf(work, laps, run)}`)
  }

  const verdicts = works.flatMap(work => judge(work, laps, runCount))
  print(
    `\nBars: each run's figure with its spread over the laps, "!" where the run missed it\n${verdictTable(verdicts)}`,
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

async function measureRun({ lapCount, works, contenders }: Options, { run, random, laps }: Progress): Promise<void> {
  for (let lap = 1; lap <= lapCount; lap++) {
    for (const work of works) {
      const line = [`run ${run} lap ${lap} ${work.id}:`]
      const taking = work.contenders.filter(contender => contenders.includes(contender))
      for (const contender of shuffle(taking, random)) {
        const figures = await runLap(work, contender)
        laps.push({ run, lap, workId: work.id, contender, figures })
        line.push(`${contender} ${digits(figures[work.figures[0]!.key]!)}`)
      }
      process.stderr.write(`${line.join('  ')}\n`)
    }
  }
}

function runLap(work: Work, contender: ContenderName): Promise<Figures> {
  const child = spawn(process.execPath, ['--expose-gc', 'lap.ts', work.id, contender], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: LAP_TIMEOUT_MS,
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', text => (output += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === 0) resolve(JSON.parse(output))
      else reject(new Error(`${contender} broke off in ${work.id}: ${signal ?? `exit code ${code}`}`))
    })
  })
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
