/**
 * `npm run soak`: kills the built service with SIGKILL at random moments while callers hand tasks over, and compares
 * what it shows at the end with a ledger that was kept outside of it. Exits with 1 if anything cannot be explained.
 * docs/testing.md lists the checks, and `audit.ts` gives the reasons.
 */
import { createWriteStream, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { readOptions, USAGE } from './options.ts'
import { reportOf, violationsOf } from './report.ts'
import { Ledger } from './ledger.ts'
import { soak } from './soak.ts'

const options = readOptions(process.argv.slice(2))
if ('problems' in options) {
  process.stderr.write(`${options.problems.join('\n')}\n\n${USAGE}`)
  process.exit(2)
}
// The service goes with us: its process is ended when ours exits.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const folder = mkdtempSync(join(tmpdir(), 'secondwind-soak-'))
process.stderr.write(`seed ${options.seed}, in ${folder}\n`)
const file = createWriteStream(join(folder, 'ledger.ndjson'), { flags: 'a' })
const ledger = new Ledger(note => void file.write(`${JSON.stringify(note)}\n`))
const beganAt = performance.now()
const log = openSync(join(folder, 'service.log'), 'a')

const found = await soak(options, ledger, { data: join(folder, 'data'), log })
const run = { options, ledger, elapsedMs: performance.now() - beganAt, ...found }
process.stdout.write(`${reportOf(run)}\n`)
await finished(file.end())
const isGood = violationsOf(run).length === 0
if (isGood && !options.isKept) rmSync(folder, { recursive: true, force: true })
else process.stdout.write(`ledger, log and data are in ${folder}\n`)
process.exit(isGood ? 0 : 1)
