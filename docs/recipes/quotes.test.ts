/**
 * Programs in the pages are quotations: of a region of a recipe, which runs. A block is marked by the comment before it,
 *
 *     <!-- from docs/recipes/fetch.test.ts#import+create -->
 *
 * and is what stands between `// #region create` and `// #endregion` there; several regions are joined by a blank line.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, it } from 'vitest'
import { PAGES, readPage } from './pages.ts'

interface Block {
  readonly page: string
  readonly code: string
  /** Absent when nobody says where it is from. */
  readonly file: string | undefined
  readonly regions: readonly string[]
}

const FENCE = /^(?:<!-- from (?<file>[^#\s]+)#(?<regions>\S+) -->\n)?```ts\n(?<code>.*?)^```$/gms

function blocksOf(page: string): Block[] {
  return Array.from(readPage(page).matchAll(FENCE), ({ groups }) => {
    const { file, regions = '', code } = groups as { file?: string; regions?: string; code: string }
    return { page, code, file, regions: regions.split('+') }
  })
}

function regionOf(file: string, name: string): string {
  const text = readFileSync(file, 'utf8')
  const found = new RegExp(`^ *// #region ${name}\n(.*?)^ *// #endregion$`, 'ms').exec(text)?.[1]
  assert.ok(found !== undefined, `${file} has no region ${name}`)
  const indent = Math.min(...(found.match(/^ *(?=\S)/gm) ?? ['']).map(spaces => spaces.length))
  return found.replaceAll(new RegExp(`^ {${indent}}`, 'gm'), '')
}

const blocks = PAGES.flatMap(blocksOf)

describe('every program in the pages', () => {
  it('is there', () => {
    assert.ok(blocks.length > 10)
  })

  it('says which recipe it is from', () => {
    assert.deepEqual(
      blocks.filter(({ file }) => file === undefined).map(({ page, code }) => `${page}: ${code.slice(0, 60)}`),
      [],
    )
  })

  for (const { page, file, regions, code } of blocks.filter(block => block.file !== undefined))
    it(`is quoted word for word: ${page} from ${file}#${regions.join('+')}`, () => {
      assert.equal(code, regions.map(region => regionOf(file!, region)).join('\n'))
    })
})

describe('every region of a recipe', () => {
  it('is quoted somewhere', () => {
    const quoted = blocks.flatMap(({ file, regions }) => regions.map(region => `${file}#${region}`))
    const regions = globSync('docs/recipes/*.test.ts').flatMap(path =>
      Array.from(readFileSync(path, 'utf8').matchAll(/^ *\/\/ #region (\S+)$/gm), ([, name]) => `${path}#${name}`),
    )
    assert.deepEqual(
      regions.map(region => region.replaceAll('\\', '/')).filter(region => !quoted.includes(region)),
      [],
    )
  })
})
