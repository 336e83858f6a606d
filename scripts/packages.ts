/** Each package as a stranger would install it: packed, then looked over by those who know how that goes wrong. */
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

for (const manifest of globSync('packages/*/package.json')) {
  if (JSON.parse(readFileSync(manifest, 'utf8')).private === true) continue
  const folder = dirname(manifest)
  check(`publint ${folder} --strict`)
  check(`attw --pack ${folder} --profile esm-only`)
}

function check(command: string): void {
  const { status } = spawnSync(command, { shell: true, stdio: 'inherit' })
  if (status !== 0) process.exitCode = 1
}
