import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { atTerminal as anywhere } from './command-line.test-kit.ts'
import { aService, aTenantOf } from './remote/service.test-kit.ts'

/** The lines after `try`, without the address of the service. */
function proposed(stderr: string, url: string): readonly string[] {
  const [, lines = ''] = stderr.split('\ntry  ')
  return lines
    .trimEnd()
    .split('\n')
    .map(line => line.trim().replace(` --url ${url}`, ''))
}

const HOURS = { maxAttempts: 9, initialDelayMs: 3_600_000, jitterType: 'NONE' } as const

describe('what is proposed next', () => {
  it('after a probe that failed is a look at why, and no gate is opened', async () => {
    const { url, atTerminal } = await aService()
    const { client, flags } = await aTenantOf(url)
    await client.destinations.pause(url, { reason: 'INC-2231' })
    const { taskId } = await client.tasks.enqueue({ targetUrl: `${url}/_flaky/503x9`, policy: HOURS })
    const { exitCode, stderr } = await atTerminal(['tasks', 'attempt-now', taskId, '--wait', '30s', ...flags])
    assert.equal(exitCode, 6)
    assert.match(proposed(stderr, url)[0]!, new RegExp(`^secondwind tasks attempts ${taskId} `))
    assert.doesNotMatch(stderr, /secondwind resume/)
  })

  it('under a pause of an operator is nothing that a tenant is refused', async () => {
    const { aTask, client, url, atTerminal } = await aService()
    const { taskId } = await aTask('200', { delayMs: 1_000 })
    await client.destinations.pause(url, { reason: 'INC-2231' })
    const { flags } = await aTenantOf(url)
    const { stdout, stderr } = await atTerminal(['tasks', 'explain', taskId, ...flags])
    assert.match(stdout, /An operator has shut this gate: only an operator's key opens it\.\n$/)
    assert.doesNotMatch(stderr, /secondwind resume|attempt-now/)
    assert.match(stderr, /^\ntry {2}secondwind tasks watch /)
  })

  it('after a no is nothing that does it unasked', async () => {
    const { atTerminal } = await aService()
    const { stderr } = await atTerminal(['kill', 'on', '--reason', 'INC-2231'], { answers: ['no'] })
    assert.match(stderr, /error not-confirmed/)
    assert.doesNotMatch(stderr, /--yes/)
  })

  it('for a flag before its command is the same behind it', async () => {
    const { exitCode, stderr } = await anywhere(['--tenant', 'beta', 'destinations', 'list'])
    assert.equal(exitCode, 2)
    assert.match(stderr, /--tenant stands behind its command\.[^]*do {3}secondwind destinations list --tenant beta\n/)
    for (const [words, line] of [
      [['tasks', '--tenant=beta', 'list', '--limit', '3'], 'tasks list --limit 3 --tenant=beta'],
      [
        ['--url', 'http://127.0.0.1:9', 'tasks', '--no-color', 'list'],
        'tasks list --url http://127.0.0.1:9 --no-color',
      ],
    ] as const)
      assert.ok((await anywhere(words)).stderr.includes(`  do   secondwind ${line}\n`), line)
    for (const words of [
      ['--wrong', 'tasks', 'list'],
      ['tasks', '--batch', 'list'],
    ])
      assert.doesNotMatch((await anywhere(words)).stderr, /stands behind/)
  })
})

describe('what is missing or meant otherwise', () => {
  it('is said to be missing', async () => {
    const { atTerminal, url } = await aService()
    const key = await atTerminal(['keys', 'create'])
    assert.match(
      key.stderr,
      /^error missing-option {2}--scope must be given\n\n {2}--scope must be given: one of enqueue, /,
    )
    const breaker = await atTerminal(['destinations', 'breaker', url])
    assert.match(breaker.stderr, /^error missing-option {2}--set must be given\n/)
  })

  it('is an address without its beginning, or a port that HTTP is never spoken on', async () => {
    const { atTerminal } = await aService()
    const { exitCode, stderr } = await atTerminal(['tasks', 'submit', 'api.example/charge'])
    assert.equal(exitCode, 2)
    assert.match(
      stderr,
      /<target> must be an address that begins with http:\/\/ or https:\/\/, or a file that is there/,
    )
    const port = await anywhere(['tasks', 'list', '--url', 'http://127.0.0.1:1'])
    assert.equal(port.exitCode, 7)
    assert.match(port.stderr, /Port 1 is one that HTTP is never spoken on: nothing was sent\./)
  })
})
