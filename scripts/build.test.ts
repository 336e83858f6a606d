import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, it, onTestFinished } from 'vitest'

const BUILD = fileURLToPath(new URL('build.ts', import.meta.url))

const SETTINGS = {
  compilerOptions: {
    composite: true,
    rootDir: 'src',
    outDir: 'dist',
    lib: ['ES2023'],
    types: [],
    skipLibCheck: true,
    tsBuildInfoFile: '.build-info/build.tsbuildinfo',
  },
  include: ['src'],
}

/** A repository of one package, and what `npm start` does first in it: the exit code. */
function aRepository(): { readonly start: () => number | null; readonly cli: string } {
  const folder = mkdtempSync(join(tmpdir(), 'secondwind-build-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const cli = join(folder, 'packages/cli')
  mkdirSync(join(cli, 'src'), { recursive: true })
  writeFileSync(join(folder, 'tsconfig.build.json'), '{ "files": [], "references": [{ "path": "packages/cli" }] }')
  writeFileSync(join(cli, 'tsconfig.json'), JSON.stringify(SETTINGS))
  writeFileSync(join(cli, 'src/main.ts'), 'export const answer: number = 42\n')
  const words = [BUILD, '--if-changed']
  return { cli, start: () => spawnSync(process.execPath, words, { cwd: folder, stdio: 'ignore' }).status }
}

describe('npm start', () => {
  it('builds a fresh checkout, then nothing until something changes, and then from nothing', () => {
    const { start, cli } = aRepository()
    assert.equal(start(), 0)
    const { ino, mtimeMs } = statSync(join(cli, 'dist/main.js'))
    assert.equal(start(), 0)
    assert.deepEqual(
      [statSync(join(cli, 'dist/main.js')).ino, statSync(join(cli, 'dist/main.js')).mtimeMs],
      [ino, mtimeMs],
    )

    rmSync(join(cli, 'src/main.ts'))
    writeFileSync(join(cli, 'src/other.ts'), 'export const answer: number = 43\n')
    assert.equal(start(), 0)
    assert.deepEqual(readdirSync(join(cli, 'dist')).toSorted(), ['other.d.ts', 'other.js'])
  })

  it('never takes a build that failed for one, however often it is tried', () => {
    const { start, cli } = aRepository()
    assert.equal(start(), 0)
    writeFileSync(join(cli, 'src/main.ts'), 'export const answer: number = "42"\n')
    assert.notEqual(start(), 0)
    assert.notEqual(start(), 0)
  })
})
