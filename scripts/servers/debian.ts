import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { MissingProgramError } from './missing.ts'

/** The path of a program: from the PATH, else installed from Debian's package of the same name where we may. */
export function programFromDebian(name: string): string {
  const path = findOnPath(name)
  if (path !== undefined) return path
  if (!existsSync('/etc/debian_version'))
    throw new MissingProgramError(name, 'it is installed by itself on Debian only')
  if (process.getuid?.() !== 0) throw new MissingProgramError(name, `run \`sudo apt-get install ${name}\``)
  process.stderr.write(`installing ${name} from Debian\n`)
  // A fresh machine knows of no packages yet; the second try does.
  const problem = install(name) && (update(), install(name))
  const installed = findOnPath(name)
  if (installed === undefined) throw new MissingProgramError(name, problem || 'Debian has installed something else')
  return installed
}

export function findOnPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean)
  return folders.map(folder => join(folder, name)).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** What went wrong; nothing when nothing did. Two test files may install at once: the later waits for the lock. */
function install(name: string): string {
  return aptGet('-o', 'DPkg::Lock::Timeout=120', 'install', '-y', '--no-install-recommends', name)
}

function update(): void {
  aptGet('update')
}

const APT_GET = '/usr/bin/apt-get'

function aptGet(...line: readonly string[]): string {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const { status, stderr, error } = spawnSync(APT_GET, line, { encoding: 'utf8', env })
  if (status === 0) return ''
  return (stderr || error?.message || `apt-get ended with ${status}`).trim()
}
