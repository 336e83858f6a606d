import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path/posix'
import { describe, it } from 'vitest'
import { readPage } from './pages.ts'

const PAGE = 'docs/testing.md'
const HELD_BY = /\[(?<title>[^\]]+)\]\((?<path>\.\.[^)]+\.ts)\)/g

/** Each test that a row names, with the file that has it. */
function testsOf(page: string): { readonly title: string; readonly path: string }[] {
  const [, table = ''] = page.split('## Traps of delivery systems')
  const [rows = ''] = table.split('\n## ')
  return Array.from(rows.matchAll(HELD_BY), ({ groups }) => ({ title: groups!['title']!, path: groups!['path']! }))
}

describe('every trap', () => {
  it('is held by a test that is there under this title', () => {
    const named = testsOf(readPage(PAGE))
    assert.ok(named.length >= 30)
    const missing = named.filter(({ title, path }) => !readFileSync(join('docs', path), 'utf8').includes(title))
    assert.deepEqual(missing, [])
  })
})
