/** Runs `bench/`, which has its own packages: installed when they are missing, for only who compares needs the peers. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

function npm(...line: readonly string[]): void {
  const { status } = spawnSync('npm', ['--prefix', 'bench', ...line], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

if (!existsSync('bench/node_modules')) npm('ci')
npm('run', '--silent', 'bench', '--', ...process.argv.slice(2))
