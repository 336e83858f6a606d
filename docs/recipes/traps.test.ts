import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path/posix'
import { describe, it } from 'vitest'
import { readPage } from './pages.ts'

const HELD_BY = /\[(?<title>[^\]]+)\]\((?<path>\.\.[^)]+\.ts)\)/g

/** Tables that say of each rule which test holds it: below which heading, and how many tests they name at least. */
const TABLES = [
  { page: 'docs/testing.md', heading: '## Traps of delivery systems', least: 30 },
  { page: 'docs/security.md', heading: '# Security', least: 18 },
]

/** Each test that a row names, with the file that has it. */
function testsOf(page: string, heading: string): { readonly title: string; readonly path: string }[] {
  const [, below = ''] = page.split(heading)
  const [rows = ''] = below.split('\n## ')
  return Array.from(rows.matchAll(HELD_BY), ({ groups }) => ({ title: groups!['title']!, path: groups!['path']! }))
}

describe('every rule', () => {
  for (const { page, heading, least } of TABLES)
    it(`of ${page} is held by a test that is there under this title`, () => {
      const named = testsOf(readPage(page), heading)
      assert.ok(named.length >= least, `${named.length}`)
      const missing = named.filter(({ title, path }) => !readFileSync(join('docs', path), 'utf8').includes(title))
      assert.deepEqual(missing, [])
    })
})
