/** `node scripts/bench.ts <script>` runs a script of `bench/`, which has its own packages: only who compares needs the peers. */
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'

function npm(...line: readonly string[]): void {
  const { status } = spawnSync('npm', ['--prefix', 'bench', ...line], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

function changedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

const [script = 'bench', ...options] = process.argv.slice(2)
// npm notes there what it has installed.
if (changedAt('bench/node_modules/.package-lock.json') < changedAt('bench/package-lock.json')) npm('ci')
npm('run', '--silent', script, '--', ...options)
