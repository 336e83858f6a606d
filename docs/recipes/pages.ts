import { globSync, readFileSync } from 'node:fs'

/** The pages that people read, from the root of the repository. */
export const PAGES: readonly string[] = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  ...globSync('docs/*.md'),
].map(path => path.replaceAll('\\', '/'))

export function readPage(path: string): string {
  return readFileSync(path, 'utf8')
}

/** The headings of a page, as GitHub names their anchors. */
export function anchorsOf(page: string): string[] {
  return Array.from(withoutCode(page).matchAll(/^#+ (.+)$/gm), ([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  )
}

/** What stands between fences is no prose. */
export function withoutCode(page: string): string {
  return page.replaceAll(/^```.*?^```$/gms, '')
}
