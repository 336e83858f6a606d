/**
 * `npm run build` compiles what is published, from nothing: tsc trusts its build info even when dist is gone, and keeps the
 * output of deleted sources. With `--if-changed`, as `npm start` calls it, only where sources, settings or dist are not
 * byte for byte as the last build left them.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { fingerprintOf } from './fingerprint.ts'

/** Among what every build removes first: one that breaks off leaves none. */
const SEAL = 'packages/cli/.build-info/sealed'
const TSC = fileURLToPath(new URL('../bin/tsc', import.meta.resolve('typescript')))

const isBuilt = process.argv.includes('--if-changed') && existsSync(SEAL)
if (!isBuilt || readFileSync(SEAL, 'utf8') !== fingerprintOf('.')) build()

function build(): void {
  for (const folder of globSync('packages/*/{dist,.build-info}')) rmSync(folder, { recursive: true })
  const { status } = spawnSync(process.execPath, [TSC, '-b', 'tsconfig.build.json'], { stdio: 'inherit' })
  if (status === 0) writeFileSync(SEAL, fingerprintOf('.'))
  process.exitCode = status ?? 1
}
