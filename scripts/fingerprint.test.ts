import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import { fingerprintOf } from './fingerprint.ts'

const SOURCE = 'packages/cli/src/deep/main.ts'
const MADE = 'packages/cli/dist/deep/main.js'
const PATHS = [
  'package-lock.json',
  'tsconfig.base.json',
  'packages/cli/package.json',
  'packages/cli/tsconfig.json',
  SOURCE,
  MADE,
]

function aFolder(): { readonly folder: string; readonly write: (path: string, content: string) => void } {
  const folder = mkdtempSync(join(tmpdir(), 'secondwind-fingerprint-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const write = (path: string, content: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  for (const path of PATHS) write(path, path)
  return { folder, write }
}

describe('the fingerprint of a build', () => {
  it('stays the same when only times change, and files that no build reads', () => {
    const { folder, write } = aFolder()
    const before = fingerprintOf(folder)
    utimesSync(join(folder, SOURCE), 0, 0)
    write('docs/cli.md', 'words')
    write('packages/cli/.build-info/test.tsbuildinfo', 'what tests left')
    assert.equal(fingerprintOf(folder), before)
  })

  it.each(PATHS)('is another when %s is', path => {
    const { folder, write } = aFolder()
    const before = fingerprintOf(folder)
    write(path, `${path} `)
    assert.notEqual(fingerprintOf(folder), before)
  })

  it.each([SOURCE, MADE])('is another when %s is gone, or goes by another name', path => {
    const { folder } = aFolder()
    const before = fingerprintOf(folder)
    renameSync(join(folder, path), join(folder, `${path}x`))
    const renamed = fingerprintOf(folder)
    rmSync(join(folder, `${path}x`))
    assert.equal(new Set([before, renamed, fingerprintOf(folder)]).size, 3)
  })
})
