import type { SourceFile, Violation } from './check.ts'
import { importsOf, place, type Import } from './imports.ts'
import { ALONE, folderOf, FOLDERS, mayImport, STAIRS } from './packages.ts'
import { PACKAGES, TEST } from './rules.ts'

type Finding = Pick<Violation, 'problem' | 'why'> | undefined

const INSIDE = 'a package is what it exports; the rest may change without notice'

/** Who imports what from which package: through the entrance, downstairs, and no strangers. */
export function checkImports(file: SourceFile, manifests: readonly SourceFile[]): Violation[] {
  return importsOf(file.path, file.text).flatMap(found => {
    const finding =
      checkWalls(file.path, found) ??
      checkEntrance(found, manifests) ??
      checkStairs(file.path, found) ??
      checkStranger(file.path, found)
    return finding === undefined ? [] : [{ path: file.path, line: found.line, ...finding }]
  })
}

function checkWalls(path: string, { kind, target }: Import): Finding {
  if (kind !== 'file') return undefined
  const folder = folderOf(path)
  const inside = folder === undefined ? target.startsWith('../') : target.startsWith(`${folder}/`)
  return inside ? undefined : { problem: `goes through the wall of a package to ${target}`, why: INSIDE }
}

function checkEntrance({ kind, target }: Import, manifests: readonly SourceFile[]): Finding {
  if (kind !== 'ours') return undefined
  const name = packageName(target)
  const manifest = manifests.find(({ path }) => folderOf(path) === FOLDERS[name])
  if (manifest === undefined) return { problem: `there is no package ${name}`, why: INSIDE }
  const { exports = {} } = JSON.parse(manifest.text) as { exports?: object }
  return `.${target.slice(name.length)}` in exports ? undefined : { problem: `${target} is not exported`, why: INSIDE }
}

function checkStairs(path: string, { kind, target }: Import): Finding {
  const folder = folderOf(path)
  if (kind !== 'ours' || folder === undefined) return undefined
  const imported = FOLDERS[packageName(target)]!
  // Its own tests may see a package as its users do.
  if (TEST.test(path) && imported === folder) return undefined
  if (mayImport(folder, TEST.test(path)).includes(imported)) return undefined
  return { problem: `${folder} may not import ${imported}`, why: STAIRS }
}

function checkStranger(path: string, { kind, target }: Import): Finding {
  const folder = folderOf(path)
  const peers = folder === undefined ? undefined : PACKAGES[folder]?.onlyPeers
  if (kind !== 'npm' || peers === undefined || TEST.test(path)) return undefined
  const name = packageName(target.slice('npm:'.length))
  return peers[name]?.test(place(path)) ? undefined : { problem: `${folder} may not import ${name} here`, why: ALONE }
}

function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
