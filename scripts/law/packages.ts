import { PACKAGES } from './rules.ts'

export const STAIRS = 'imports go downstairs only, never along a floor'
export const ALONE = 'this package brings no third-party code'

/** npm name to folder. */
export const FOLDERS: { readonly [name: string]: string } = Object.fromEntries(
  Object.entries(PACKAGES).map(([folder, { name }]) => [name, folder]),
)

/** The package a file belongs to; undefined for what is outside of packages/. */
export function folderOf(path: string): string | undefined {
  return /^packages\/([^/]+)\//.exec(path)?.[1]
}

export function mayImport(folder: string, isTest: boolean): readonly string[] {
  const rule = PACKAGES[folder]
  return [...(rule?.mayImport ?? []), ...((isTest && rule?.testsMayImport) || [])]
}
