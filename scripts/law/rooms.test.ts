import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { checkRooms } from './check-rooms.ts'
import { checkLaw } from './check.ts'
import { ROOMS } from './rules.ts'

/** `[file below packages/, planted line, what is said about it]`: one for every token and import of every room. */
const PLANTED: readonly (readonly [place: string, line: string, problem: string])[] = [
  ['resilience/src/retry/decide.ts', 'const a = await b', 'pure rules may not use await'],
  ['resilience/src/retry/policy.ts', 'export async function a() {}', 'pure rules may not use async'],
  ['resilience/src/classify/status.ts', 'let a: Promise<void>', 'pure rules may not use Promise'],
  ['resilience/src/lane/share.ts', 'a.then(b)', 'pure rules may not use .then('],
  ['resilience/src/retry/retry-after.ts', 'Date(a)', 'pure rules may not use Date'],
  ['resilience/src/retry/backoff.ts', 'performance.now()', 'pure rules may not use performance'],
  ['service/src/task/settle.ts', 'globalThis.setTimeout(a)', 'pure rules may not use setTimeout'],
  ['service/src/task/settle.ts', 'setInterval(a)', 'pure rules may not use setInterval'],
  ['service/src/task/settle.ts', 'setImmediate(a)', 'pure rules may not use setImmediate'],
  ['service/src/task/settle.ts', 'queueMicrotask(a)', 'pure rules may not use queueMicrotask'],
  ['service/src/dispatch/share.ts', 'Math.random()', 'pure rules may not use Math.random'],
  ['idempotency/src/claim/decide.ts', 'crypto.randomUUID()', 'pure rules may not use crypto'],
  ['service/src/task/accept.ts', 'throw new Error()', 'pure rules may not use throw'],
  [
    'service/src/task/accept.ts',
    `import { hash } from 'node:crypto'`,
    'pure rules may not import a node: module: node:crypto',
  ],
  [
    'resilience/src/retry/decide.ts',
    `import { systemClock } from '../ports/system-clock.ts'`,
    'pure rules may not import a port: resilience/src/ports/system-clock.ts',
  ],
  [
    'resilience/src/retry/decide.ts',
    `import { type Clock } from '../ports/clock.ts'`,
    'pure rules may not import a port: resilience/src/ports/clock.ts',
  ],
  ['resilience/src/retry/run.ts', 'const DEFAULT_WAIT_MS = 3', 'run.ts may not use a default'],
  ['idempotency/src/claim/run.ts', `import 'node:fs'`, 'run.ts may not import a node: module: node:fs'],
  ['service/src/main.ts', 'Date.now()', 'clock and chance may not use Date.now'],
  ['cli/src/a.ts', 'new Date()', 'clock and chance may not use new Date'],
  ['resilience/src/testing/virtual-clock.ts', 'performance.now()', 'clock and chance may not use performance'],
  ['client/src/a.ts', 'globalThis.Math.random()', 'clock and chance may not use Math.random'],
  ['lab/src/a.ts', 'globalThis.crypto?.subtle', 'clock and chance may not use crypto'],
  ['lab/src/a.ts', 'setTimeout(a, 1)', 'timers may not use setTimeout'],
  ['client/src/a.ts', 'const tick = setInterval', 'timers may not use setInterval'],
  ['service/src/a.ts', 'setImmediate(a)', 'timers may not use setImmediate'],
  ['resilience/src/hedge/run.ts', 'queueMicrotask(a)', 'timers may not use queueMicrotask'],
  [
    'resilience/src/ports/clock.ts',
    `import { decide } from '../retry/decide.ts'`,
    'ports may not import a rule: resilience/src/retry/decide.ts',
  ],
  ['resilience/src/fetch/index.ts', `import 'node:http'`, 'portable packages may not import a node: module: node:http'],
  ['client/src/a.ts', `import fs from 'fs'`, 'portable packages may not import a node: module: node:fs'],
  ['lab/src/a.ts', `await import('node:fs')`, 'portable packages may not import a node: module: node:fs'],
  [
    'service/src/a.ts',
    `import '@secondwind/resilience/testing'`,
    'production code may not import testing: @secondwind/resilience/testing',
  ],
  [
    'resilience/src/index.ts',
    `export * from './testing/virtual-clock.ts'`,
    'production code may not import testing: resilience/src/testing/virtual-clock.ts',
  ],
  [
    'lab/src/a.ts',
    `import '@secondwind/resilience/fetch'`,
    'lab may not import an adapter: @secondwind/resilience/fetch',
  ],
  ['service/src/bodies/s3.ts', 'process.env.HOME', 'process may not use process'],
  ['service/src/a.ts', `import { env } from 'node:process'`, 'process may not import process: node:process'],
  ['service/src/stores/sqlite/a.ts', 'policy.maxAttempts', 'stores may not use a field of the policy'],
  [
    'service/src/stores/redis/a.ts',
    `import '../../telemetry/events.ts'`,
    'stores may not import telemetry: service/src/telemetry/events.ts',
  ],
  [
    'service/src/stores/redis/a.ts',
    `import '../sqlite/b.ts'`,
    'stores may not import another store: service/src/stores/sqlite/b.ts',
  ],
  ['service/src/targets/http/a.ts', 'retry(work)', 'targets may not use retry()'],
  [
    'service/src/targets/http/a.ts',
    `import '../../stores/task-store.ts'`,
    'targets may not import a store: service/src/stores/task-store.ts',
  ],
  [
    'service/src/targets/target.ts',
    `import '../task/task.ts'`,
    'targets may not import task state: service/src/task/task.ts',
  ],
  ['service/src/dispatch/a.ts', 'process.hrtime()', 'dispatch may not use process'],
  [
    'service/src/dispatch/a.ts',
    `import '../stores/sqlite/sqlite-store.ts'`,
    'dispatch may not import a store or target of one kind: service/src/stores/sqlite/sqlite-store.ts',
  ],
  [
    'service/src/dispatch/a.ts',
    `import '../routes/tasks.ts'`,
    'dispatch may not import routes: service/src/routes/tasks.ts',
  ],
  ['service/src/dispatch/a.ts', `import 'node:http2'`, 'dispatch may not import HTTP: node:http2'],
  ['service/src/dispatch/a.ts', `import 'pg'`, 'dispatch may not import third-party code: npm:pg'],
  [
    'service/src/routes/tasks.ts',
    `import '../dispatch/a.ts'`,
    'routes may not import dispatch: service/src/dispatch/a.ts',
  ],
  [
    'service/src/routes/tasks.ts',
    `import '../targets/a.ts'`,
    'routes may not import targets: service/src/targets/a.ts',
  ],
  [
    'service/src/routes/tasks.ts',
    `import '../stores/sqlite/a.ts'`,
    'routes may not import a store of one kind: service/src/stores/sqlite/a.ts',
  ],
]

const ALLOWED: readonly (readonly [place: string, line: string])[] = [
  ['resilience/src/retry/retry-after.ts', 'Date.parse(a) + Date.UTC(b)'],
  ['resilience/src/retry/decide.ts', `import type { Clock } from '../ports/clock.ts'`],
  ['resilience/src/retry/decide.ts', `const a = { throw: b.async, Date: 'await' } // setTimeout`],
  ['resilience/src/retry/fetch-policy.ts', 'await b'],
  ['resilience/src/ports/system-clock.ts', 'setTimeout(() => Date.now() + performance.now() + Math.random())'],
  ['resilience/src/testing/virtual-clock.ts', 'setImmediate(a)'],
  ['resilience/src/testing/leak-check.ts', `globalThis.process.on('unhandledRejection', a)`],
  ['resilience/src/testing/scripted-server.ts', `import 'node:http'`],
  ['resilience/src/context/index.ts', `import 'node:async_hooks'`],
  ['resilience/src/retry/run.ts', 'await clock.sleep(DEFAULT_POLICY.initialDelayMs)'],
  ['resilience/src/fetch/run.ts', 'this.setTimeout(clock.performance)'],
  ['resilience/src/retry/run.test.ts', 'await new Promise(resolve => setTimeout(resolve, Math.random()))'],
  ['service/src/config.ts', 'process.env.PORT'],
  ['cli/src/main.ts', 'process.exit(1)'],
  ['lab/src/a.ts', `import '@secondwind/resilience/testing'`],
  ['service/src/stores/redis/a.ts', `import './b.ts'\nimport '../task-store.ts'\nimport '@redis/client'`],
  ['service/src/dispatch/a.ts', `import '../stores/task-store.ts'\nimport '../task/settle.ts'`],
  ['service/src/routes/a.ts', `import '../stores/task-store.ts'\nimport 'fastify'`],
]

describe('a room', () => {
  it.each(PLANTED)('forbids in %s: %s', (place, line, problem) => {
    const found = checkRooms({ path: `packages/${place}`, text: `\n${line}\n` })
    assert.ok(found.map(violation => violation.problem).includes(problem), JSON.stringify(found, undefined, 2))
    assert.ok(found.every(violation => violation.line === 2 && violation.path === `packages/${place}`))
  })

  it.each(ALLOWED)('allows in %s: %s', (place, line) => {
    assert.deepEqual(checkRooms({ path: `packages/${place}`, text: line }), [])
  })

  it('has a planted violation for everything it forbids', () => {
    const forbidden = ROOMS.flatMap(({ name, tokens = [], imports = [] }) => [
      ...tokens.map(({ say }) => `${name} may not use ${say}`),
      ...imports.map(({ say }) => `${name} may not import ${say}: `),
    ])
    const unproven = forbidden.filter(said => !PLANTED.some(([, , problem]) => `${problem}: `.startsWith(said)))
    assert.deepEqual(unproven, [])
  })
})

describe('a file', () => {
  const lengthOf = (path: string, lines: number): string[] =>
    checkLaw([{ path, text: 'a\n'.repeat(lines) }], []).map(({ line, problem }) => `${line} ${problem}`)

  it('has 300 lines at most', () => {
    assert.deepEqual(lengthOf('packages/lab/src/a.ts', 300), [])
    assert.deepEqual(lengthOf('packages/lab/src/a.ts', 301), ['301 301 lines, 300 at most'])
  })

  it('has 500 lines at most if it is a test', () => {
    assert.deepEqual(lengthOf('scripts/a.test.ts', 500), [])
    assert.deepEqual(lengthOf('scripts/a.test.ts', 501), ['501 501 lines, 500 at most'])
  })
})
