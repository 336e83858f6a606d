/**
 * `npm run mutation`: installs Stryker when it is missing, runs it, and prints the table for docs/testing.md. What
 * follows `--` goes to Stryker: `npm run mutation -- --mutate packages/resilience/src/window/decide.ts`.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('..', import.meta.url))
const stryker = `${here}node_modules/@stryker-mutator/core/bin/stryker.js`

// A run that fails early must not end with the table of the one before.
rmSync(`${here}reports`, { recursive: true, force: true })

if (!existsSync(stryker)) stopUnless(spawnSync('npm ci', { cwd: here, shell: true, stdio: 'inherit' }).status)
const verdict = node(root, stryker, 'run', `${here}stryker.config.js`, ...process.argv.slice(2))
if (existsSync(`${here}reports/mutation.json`)) stopUnless(node(root, `${here}summary.ts`))
stopUnless(verdict)

/** This very Node, whichever one the shell would find. */
function node(cwd: string, ...line: readonly string[]): number | null {
  return spawnSync(process.execPath, line, { cwd, stdio: 'inherit' }).status
}

function stopUnless(status: number | null): void {
  if (status !== 0) process.exit(status ?? 1)
}
