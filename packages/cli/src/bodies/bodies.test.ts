import type { RetryTask, StoredBody } from '@secondwind/client'
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import { aService } from '../remote/service.test-kit.ts'

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'secondwind-bodies-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

describe('bodies', () => {
  it('are uploaded byte by byte, named by a task, and read back as they were', async () => {
    const { inPipe, url } = await aService()
    const folder = aFolder()
    const [sent, got] = [join(folder, 'sent'), join(folder, 'got')]
    const bytes = Buffer.from([0, 255, 27, 10, 13])
    writeFileSync(sent, bytes)
    const put = await inPipe(['bodies', 'put', sent, '--content-type', 'application/x-example', '--json'])
    const { bodyRef, sizeBytes, contentType } = JSON.parse(put.stdout) as StoredBody
    assert.deepEqual([put.exitCode, sizeBytes, contentType], [0, 5, 'application/x-example'])
    const task = await inPipe([
      'tasks',
      'submit',
      `${url}/_flaky/200`,
      '--body-ref',
      bodyRef,
      '--wait',
      '20s',
      '--json',
    ])
    assert.deepEqual([task.exitCode, (JSON.parse(task.stdout) as RetryTask).bodyRef], [0, bodyRef], task.stderr)
    assert.equal((await inPipe(['bodies', 'get', bodyRef, '--write', got])).exitCode, 0)
    assert.deepEqual([readFileSync(got), statSync(got).mode & 0o777], [bytes, 0o600])
    const shown = await inPipe(['bodies', 'get', bodyRef])
    assert.equal(shown.stdout, '5 bytes that are no text: --write <file> keeps them\n')
  })

  it('that are text come from stdin, and are shown', async () => {
    const { inPipe } = await aService()
    const put = await inPipe(['bodies', 'put', '-'], { input: 'Grüße' })
    const [bodyRef = ''] = put.stdout.split('\n')
    assert.match(bodyRef, /^sha256-[\da-f]{64}$/)
    assert.equal((await inPipe(['bodies', 'get', bodyRef])).stdout, 'Grüße\n')
  })

  it('that are not there are not found, and files that are not are not sent', async () => {
    const { inPipe } = await aService()
    const gone = await inPipe(['bodies', 'get', `sha256-${'0'.repeat(64)}`])
    assert.deepEqual([gone.exitCode, gone.stderr.includes('error body-not-found')], [3, true], gone.stderr)
    const missing = await inPipe(['bodies', 'put', join(aFolder(), 'none')])
    assert.match(missing.stderr, /^error not-readable[^]*Nothing was sent\.\n {2}do {3}secondwind bodies put --help\n$/)
  })
})
