/** The library's bench: every lap is a fresh process that loads one contender. */
import { existsSync } from 'node:fs'
import { bench, inOwnProcess, main } from './runner.ts'
import { WORKS } from './works/index.ts'

const OURS = new URL('../packages/resilience/dist/index.js', import.meta.url)
const LAP_TIMEOUT_MS = 120_000

await main({ command: 'npm run bench', works: WORKS, roundCount: 10, quickRoundCount: 3 }, async options => {
  if (options.contenders.includes('secondwind') && !existsSync(OURS))
    throw new Error('packages/resilience is not built; run `npm run build` in the repository root first')
  await bench(options, {
    lap: (work, contender) =>
      inOwnProcess(['--expose-gc', 'lap.ts', work.id, contender], {
        cwd: import.meta.dirname,
        timeoutMs: LAP_TIMEOUT_MS,
      }),
  })
})
