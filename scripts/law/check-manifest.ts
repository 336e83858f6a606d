import type { SourceFile, Violation } from './check.ts'
import { lineAt } from './imports.ts'
import { ALONE, folderOf, FOLDERS, mayImport, STAIRS } from './packages.ts'
import { PACKAGES } from './rules.ts'

interface Manifest {
  readonly name: string
  readonly dependencies?: object
  readonly optionalDependencies?: object
  readonly peerDependencies?: object
  readonly peerDependenciesMeta?: { readonly [name: string]: { readonly optional?: boolean } }
  readonly devDependencies?: object
}

/** What a package.json declares: the law of packages, before any line of code makes use of it. */
export function checkManifest({ path, text }: SourceFile): Violation[] {
  const folder = folderOf(path)!
  const rule = PACKAGES[folder]
  const found = (key: string, problem: string, why: string): Violation[] => [
    { path, line: lineAt(text, Math.max(0, text.lastIndexOf(`"${key}"`))), problem, why },
  ]
  if (rule === undefined) return found('name', `${folder} has no floor yet`, 'scripts/law/rules.ts names every package')

  const manifest = JSON.parse(text) as Manifest
  const brought = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })
  const peers = Object.keys(manifest.peerDependencies ?? {})
  const forTests = Object.keys(manifest.devDependencies ?? {})

  const checkStairs = (name: string, isTest: boolean): Violation[] =>
    FOLDERS[name] === undefined || mayImport(folder, isTest).includes(FOLDERS[name])
      ? []
      : found(name, `${folder} may not depend on ${name}`, STAIRS)

  const checkStranger = (name: string, isPeer: boolean): Violation[] => {
    if (rule.onlyPeers === undefined || FOLDERS[name] !== undefined) return []
    if (!isPeer) return found(name, `${folder} may not depend on ${name}`, ALONE)
    const isKnown = name in rule.onlyPeers && manifest.peerDependenciesMeta?.[name]?.optional === true
    return isKnown ? [] : found(name, `${name} may only be the optional peer of an adapter`, ALONE)
  }

  return [
    ...(manifest.name === rule.name ? [] : found('name', `${folder} is called ${rule.name}`, 'scripts/law/rules.ts')),
    ...[...brought, ...peers].flatMap(name => checkStairs(name, false)),
    ...forTests.flatMap(name => checkStairs(name, true)),
    ...brought.flatMap(name => checkStranger(name, false)),
    ...peers.flatMap(name => checkStranger(name, true)),
  ]
}
