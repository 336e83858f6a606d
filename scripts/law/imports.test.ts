import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { importsOf } from './imports.ts'

const targets = (source: string): string[] => importsOf('packages/lab/src/run.ts', source).map(found => found.target)

describe('imports', () => {
  it('are found in every form', () => {
    const source = `
      import 'a'
      import b from 'b'
      import c, { d as e } from "c"
      import * as f from 'd'
      import type { g } from 'e'
      import {
        h,
        type i,
      } from 'f'
      export * from 'g'
      export { j } from 'h'
      export type { k } from 'i'
      const l = await import('j')
      const m = require('k')
      let n: import('l').Type
      import type from 'm'`
    assert.deepEqual(
      targets(source),
      Array.from('abcdefghijklm', name => `npm:${name}`),
    )
  })

  it('are not found in comments, strings and other code', () => {
    assert.deepEqual(targets(`// import 'a'\nf("import 'a'")\nexport const from = 'a'\nexport default 'a'`), [])
    assert.deepEqual(targets(`export type A = 'a'\nconst a = { import: 'a' }\nimport.meta.resolve('a')`), [])
  })

  it('have one spelling for each thing', () => {
    assert.deepEqual(targets(`import './a.ts'\nimport '../../client/src/b.ts'\nimport '../../../scripts/c.ts'`), [
      'lab/src/a.ts',
      'client/src/b.ts',
      '../scripts/c.ts',
    ])
    assert.deepEqual(targets(`import 'fs'\nimport 'node:fs'\nimport 'secondwind'\nimport '@secondwind/lab/x'`), [
      'node:fs',
      'node:fs',
      'secondwind',
      '@secondwind/lab/x',
    ])
  })

  it('know their line, and whether anything of them is left when types are erased', () => {
    const source = `import type { A } from 'a'\n\nimport { type B } from 'b'\nexport type { C } from 'c'\nimport type from 'd'`
    assert.deepEqual(
      importsOf('packages/lab/src/run.ts', source).map(({ line, isType }) => [line, isType]),
      [
        [1, true],
        [3, false],
        [4, true],
        [5, false],
      ],
    )
  })
})
