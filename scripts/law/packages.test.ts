import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { checkLaw } from './check.ts'
import { PACKAGES } from './rules.ts'

const manifests = Object.entries(PACKAGES).map(([folder, { name }]) => manifest(folder, { name }))

function manifest(folder: string, fields: object): { path: string; text: string } {
  const text = JSON.stringify({ exports: { '.': {}, './testing': {} }, ...fields }, undefined, 2)
  return { path: `packages/${folder}/package.json`, text }
}

/** What the law says about one file with this one line, or about one changed manifest. */
function problems(path: string, text: string): string[] {
  return checkLaw([{ path, text }], manifests).map(({ problem }) => problem)
}
function manifestProblems(folder: string, fields: object): string[] {
  return checkLaw([], [manifest(folder, { name: PACKAGES[folder]?.name, ...fields })]).map(({ problem }) => problem)
}

describe('imports between packages', () => {
  it('go downstairs', () => {
    assert.deepEqual(problems('packages/client/src/a.ts', `import '@secondwind/resilience'`), [])
    assert.deepEqual(problems('packages/cli/src/a.ts', `import '@secondwind/service'`), [])
  })

  it.each([
    ['resilience', '@secondwind/client'],
    ['client', '@secondwind/service'],
    ['service', 'secondwind'],
    ['lab', '@secondwind/dashboard'],
  ])('never go upstairs: %s to %s', (folder, name) => {
    assert.match(problems(`packages/${folder}/src/a.ts`, `import '${name}'`).join(), /may not import/)
  })

  it.each([
    ['client', '@secondwind/idempotency'],
    ['service', '@secondwind/lab'],
    ['lab', '@secondwind/service'],
    ['dashboard', 'secondwind'],
  ])('never go along a floor: %s to %s', (folder, name) => {
    assert.match(problems(`packages/${folder}/src/a.ts`, `import '${name}'`).join(), /may not import/)
  })

  it('let tests of the service use the lab, and no other test', () => {
    assert.deepEqual(problems('packages/service/src/a.test.ts', `import '@secondwind/lab'`), [])
    assert.deepEqual(problems('packages/service/src/stores/task-store.conformance.ts', `import '@secondwind/lab'`), [])
    assert.match(problems('packages/client/src/a.test.ts', `import '@secondwind/lab'`).join(), /may not import lab/)
  })

  it('let a test see its own package as a user does, and nothing else of that package', () => {
    assert.deepEqual(problems('packages/lab/src/a.test.ts', `import '@secondwind/lab'`), [])
    assert.match(problems('packages/lab/src/a.ts', `import '@secondwind/lab'`).join(), /lab may not import lab/)
  })

  it('go through the exports of a package that exists', () => {
    assert.deepEqual(problems('packages/lab/src/a.ts', `import '@secondwind/resilience/testing'`), [])
    assert.match(problems('packages/lab/src/a.ts', `import '@secondwind/resilience/src/x.ts'`).join(), /not exported/)
    assert.match(problems('examples/a/main.ts', `import '@secondwind/resilience/retry'`).join(), /not exported/)
    assert.match(problems('packages/lab/src/a.ts', `import '@secondwind/nothing'`).join(), /there is no package/)
  })

  it('never go through a wall by a relative path', () => {
    assert.deepEqual(problems('packages/lab/src/a/b.ts', `import '../c.ts'`), [])
    assert.deepEqual(problems('scripts/a.ts', `import './b.ts'`), [])
    const wall = /goes through the wall/
    assert.match(problems('packages/lab/src/a.ts', `import '../../resilience/src/index.ts'`).join(), wall)
    assert.match(problems('packages/lab/src/a.ts', `import type {} from '../../../scripts/tally.ts'`).join(), wall)
    assert.match(problems('packages/lab/src/a.test.ts', `import '../../resilience/src/index.ts'`).join(), wall)
    assert.match(problems('examples/a/main.ts', `import '../../packages/lab/src/index.ts'`).join(), wall)
  })
})

describe('third-party code', () => {
  it.each(['resilience', 'idempotency', 'client', 'lab'])('is not imported by %s', folder => {
    assert.match(
      problems(`packages/${folder}/src/a.ts`, `import type {} from 'lodash/fp'`).join(),
      /import lodash here/,
    )
    assert.deepEqual(problems(`packages/${folder}/src/a.test.ts`, `import 'vitest'`), [])
  })

  it('is imported by an adapter of resilience if it is what the adapter is for', () => {
    assert.deepEqual(problems('packages/resilience/src/undici/a.ts', `import 'undici'`), [])
    assert.match(problems('packages/resilience/src/otel/a.ts', `import 'undici'`).join(), /import undici here/)
  })

  it('is chosen freely by the service', () => {
    assert.deepEqual(problems('packages/service/src/a.ts', `import 'fastify'`), [])
    assert.deepEqual(manifestProblems('service', { dependencies: { fastify: '5' } }), [])
  })

  it('is not declared where it may not be imported', () => {
    assert.match(manifestProblems('client', { dependencies: { lodash: '4' } }).join(), /may not depend on lodash/)
    assert.match(manifestProblems('lab', { optionalDependencies: { lodash: '4' } }).join(), /may not depend on lodash/)
    assert.deepEqual(manifestProblems('client', { devDependencies: { lodash: '4' } }), [])
  })

  it('is declared by resilience as an optional peer', () => {
    const peerDependencies = { undici: '8' }
    const peerDependenciesMeta = { undici: { optional: true } }
    assert.deepEqual(manifestProblems('resilience', { peerDependencies, peerDependenciesMeta }), [])
    assert.match(manifestProblems('resilience', { peerDependencies }).join(), /may only be the optional peer/)
    assert.match(manifestProblems('client', { peerDependencies, peerDependenciesMeta }).join(), /optional peer/)
  })
})

describe('a package.json', () => {
  it('declares our packages downstairs only', () => {
    const lab = { '@secondwind/lab': '0.1.0' }
    assert.deepEqual(manifestProblems('client', { dependencies: { '@secondwind/resilience': '0.1.0' } }), [])
    assert.match(
      manifestProblems('service', { dependencies: lab }).join(),
      /service may not depend on @secondwind\/lab/,
    )
    assert.match(manifestProblems('client', { peerDependencies: lab }).join(), /client may not depend on/)
    assert.match(manifestProblems('client', { devDependencies: lab }).join(), /client may not depend on/)
    assert.deepEqual(manifestProblems('service', { devDependencies: lab }), [])
  })

  it('belongs to a package the law knows, under the name it knows', () => {
    assert.match(manifestProblems('annex', { name: '@secondwind/annex' }).join(), /annex has no floor yet/)
    assert.match(manifestProblems('lab', { name: '@secondwind/labor' }).join(), /lab is called @secondwind\/lab/)
  })
})
