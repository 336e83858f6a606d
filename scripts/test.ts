/**
 * `npm test`: every check of the repository, one after the other. A failed step stops nothing; its output is shown in
 * full, that of the others is one line. While the tests run it says which files they are in. The last line is the sum.
 */
import { spawn } from 'node:child_process'
import { ASKS_FOR_PROGRESS, ProgressReader, StepLine, type Screen } from './progress.ts'
import { readTally, tallyLine, type Tally } from './tally.ts'

// Cheapest first, but for `build`: later steps look at what it made.
const STEPS = ['build', 'types', 'lint', 'format:check', 'law', 'dead-code', 'unit', 'packages', 'smoke']

const { stdout } = process
const screen: Screen = {
  isTerminal: stdout.isTTY,
  columns: stdout.columns ?? 120,
  write: text => void stdout.write(text),
}

/** In a log, where each is a line of its own; a terminal is told at once. */
const BETWEEN_PROGRESS_MS = 10_000

let sum: Tally = { passed: 0, failed: 0 }
const failedSteps: string[] = []
for (const step of STEPS) {
  const line = new StepLine(step, screen)
  const { tally, output, elapsedMs } = await run(step, line)
  const isOk = tally.failed === 0
  const counts = tally.passed + tally.failed === 1 ? '' : `  ${tallyLine(tally)}`
  line.end(`${isOk ? 'ok    ' : 'FAILED'} ${(elapsedMs / 1000).toFixed(1).padStart(5)} s${counts}`)
  for (const line of isOk ? skips(output) : [output.trimEnd()]) console.log(line)
  if (!isOk) failedSteps.push(step)
  sum = { passed: sum.passed + tally.passed, failed: sum.failed + tally.failed }
}
if (failedSteps.length > 0) console.log(`failed: ${failedSteps.join(', ')}`)
console.log(tallyLine(sum))
process.exitCode = sum.failed === 0 ? 0 : 1

interface StepResult {
  readonly tally: Tally
  readonly output: string
  readonly elapsedMs: number
}

function run(step: string, line: StepLine): Promise<StepResult> {
  const startedAt = performance.now()
  const env = { ...process.env, [ASKS_FOR_PROGRESS]: '1' }
  const child = spawn(`npm run --silent ${step}`, { shell: true, stdio: ['ignore', 'pipe', 'pipe'], env })
  const reader = new ProgressReader()
  const show = (): void => {
    if (reader.newest !== undefined) line.show(reader.newest)
  }
  const timer = screen.isTerminal ? undefined : setInterval(show, BETWEEN_PROGRESS_MS)
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const before = reader.newest
    output += reader.take(text)
    if (screen.isTerminal && reader.newest !== before) show()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', exitCode => {
      clearInterval(timer)
      output += reader.end()
      resolve({ tally: readTally(output, exitCode ?? 1), output, elapsedMs: performance.now() - startedAt })
    })
  })
}

/** What a step left out is said aloud, even when it passed. */
function skips(output: string): string[] {
  return output.split('\n').filter(line => line.startsWith('skipped: '))
}
