/**
 * The portable packages promise to run on Node 20, and the test runner does not: so the built files are tried by
 * `node --test` on the machine's own Node, which is often older than the one our scripts bring along.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { tallyLine } from './tally.ts'

const OLDEST_MAJOR = 20

const node = findNode()
if (node === undefined) skip(`no other Node ${OLDEST_MAJOR} or newer on the PATH`)
else runOn(node.path, node.version)

function findNode(): { path: string; version: string } | undefined {
  const name = process.platform === 'win32' ? 'node.exe' : 'node'
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter(folder => !folder.includes('node_modules'))
    .map(folder => join(folder, name))
    .filter(existsSync)
    .map(path => ({
      path,
      version: spawnSync(path, ['-p', 'process.versions.node'], { encoding: 'utf8' }).stdout.trim(),
    }))
    .find(({ version }) => Number.parseInt(version, 10) >= OLDEST_MAJOR)
}

function runOn(path: string, version: string): void {
  const files = globSync('packages/*/smoke/*.test.js')
  // Without names `node --test` would search the whole repository and try whatever it finds.
  if (files.length === 0) throw new Error('no smoke tests: expected packages/*/smoke/*.test.js')
  const options = ['--test', '--test-reporter=tap', '--test-timeout=60000']
  const { stdout, stderr, status } = spawnSync(path, [...options, ...files], { encoding: 'utf8' })
  console.log(`${stdout}${stderr}on Node ${version}`)
  const count = (what: string): number => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(stdout)?.[1] ?? 0)
  console.log(tallyLine({ passed: count('pass'), failed: count('fail') + count('cancelled') }))
  process.exitCode = status ?? 1
}

/** Loud, and where a machine is meant to be complete, a failure. */
function skip(reason: string): void {
  console.log(`skipped: ${reason}`)
  console.log(tallyLine({ passed: 0, failed: 0 }))
  process.exitCode = process.env['CI'] === 'true' ? 1 : 0
}
