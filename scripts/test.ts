/**
 * `npm test`: every check of the repository, one after the other. A failed step stops nothing; its output is shown in
 * full, that of the others is one line. The last line is the sum.
 */
import { spawn } from 'node:child_process'
import { readTally, tallyLine, type Tally } from './tally.ts'

// Cheapest first, but for `build`: later steps look at what it made.
const STEPS = ['build', 'types', 'lint', 'format:check', 'law', 'dead-code', 'unit', 'packages', 'smoke']

let sum: Tally = { passed: 0, failed: 0 }
const failedSteps: string[] = []
for (const step of STEPS) {
  process.stdout.write(step.padEnd(14))
  const { tally, output, elapsedMs } = await run(step)
  const isOk = tally.failed === 0
  const counts = tally.passed + tally.failed === 1 ? '' : `  ${tallyLine(tally)}`
  console.log(`${isOk ? 'ok    ' : 'FAILED'} ${(elapsedMs / 1000).toFixed(1).padStart(5)} s${counts}`)
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

function run(step: string): Promise<StepResult> {
  const startedAt = performance.now()
  const child = spawn(`npm run --silent ${step}`, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => (output += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', exitCode =>
      resolve({ tally: readTally(output, exitCode ?? 1), output, elapsedMs: performance.now() - startedAt }),
    )
  })
}

/** What a step left out is said aloud, even when it passed. */
function skips(output: string): string[] {
  return output.split('\n').filter(line => line.startsWith('skipped: '))
}
