import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, it } from 'vitest'
import { GIVE_UP_REASONS } from '@secondwind/resilience'
import { readPage } from './pages.ts'

const SOURCES = globSync('packages/{resilience,client}/src/**/*.ts').filter(
  path => !/\.test(-d|-kit)?\.ts$|type-tests/.test(path),
)
const source = SOURCES.map(path => readFileSync(path, 'utf8')).join('\n')

/** The words of a union of texts. */
function words(union: string | undefined): string[] {
  return Array.from((union ?? '').matchAll(/'([a-z-]+)'/g), ([, word]) => word!)
}

/** Every error names its codes in its type, and takes no others. */
function errorCodes(): string[] {
  const named = Array.from(source.matchAll(/extends ResilienceError<([^>]+)>/g), ([, union]) => words(union)).flat()
  return [...named, ...['ServiceErrorCode', 'SignatureErrorCode'].flatMap(wordsOfType)]
}

function warningCodes(): string[] {
  return wordsOfType('WarningCode')
}

function wordsOfType(name: string): string[] {
  return words(new RegExp(`export type ${name} =([^\\n]*(?:\\n {2}\\|[^\\n]*)*)`).exec(source)?.[1])
}

/** What `explainPolicy` remarks. */
function remarks(): string[] {
  return words(/export interface Warning \{\s+readonly kind:(.*?)\n {2}\/\*\*/s.exec(source)?.[1])
}

function missingFrom(page: string, all: readonly string[]): string[] {
  const text = readPage(page)
  return all.filter(word => !new RegExp(`^### \`${word}\`$`, 'm').test(text))
}

describe('docs/errors.md', () => {
  it('has a heading for every code of an error', () => {
    assert.ok(errorCodes().includes('invalid-policy'))
    assert.deepEqual(missingFrom('docs/errors.md', errorCodes()), [])
  })

  it('has a heading for every warning', () => {
    assert.ok(warningCodes().includes('signal-ignored'))
    assert.deepEqual(missingFrom('docs/errors.md', warningCodes()), [])
  })

  it('has a heading for every reason to give up', () => {
    assert.deepEqual(missingFrom('docs/errors.md', GIVE_UP_REASONS), [])
  })

  it('has a heading for nothing else', () => {
    const known = new Set<string>([...errorCodes(), ...warningCodes(), ...GIVE_UP_REASONS])
    const headings = Array.from(readPage('docs/errors.md').matchAll(/^### `(.+)`$/gm), ([, word]) => word!)
    assert.deepEqual(
      headings.filter(word => !known.has(word)),
      [],
    )
  })
})

describe('docs/policy.md', () => {
  it('explains every remark of explainPolicy', () => {
    const page = readPage('docs/policy.md')
    assert.ok(remarks().includes('no-jitter'))
    assert.deepEqual(
      remarks().filter(word => !page.includes(`\`${word}\``)),
      [],
    )
  })
})
