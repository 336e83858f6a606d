import type { RetryTask, StoredBody } from '@secondwind/client'
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import { secondwind } from '../command-line.test-kit.ts'
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
    const again = await inPipe(['bodies', 'put', sent])
    assert.deepEqual([again.stdout, again.stderr.startsWith('5 bytes')], [`${bodyRef}\n`, true], again.stderr)
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
  })

  it('go through pipes byte by byte, and only text is shown on a terminal', async () => {
    const { url, atTerminal } = await aService()
    const got = join(aFolder(), 'got')
    const upload = async (input: string | Uint8Array): Promise<string> =>
      (JSON.parse((await secondwind(['bodies', 'put', '-', '--json', '--url', url], { input })).stdout) as StoredBody)
        .bodyRef
    const bytes = Buffer.from([0, 255, 27, 10, 13])
    const binary = await upload(bytes)
    assert.equal((await secondwind(['bodies', 'get', binary, '--url', url], { outputTo: got })).exitCode, 0)
    assert.deepEqual(readFileSync(got), bytes)
    const refused = await atTerminal(['bodies', 'get', binary])
    assert.deepEqual([refused.exitCode, refused.stdout], [2, ''])
    assert.match(refused.stderr, /^error no-text {2}a body of 5 bytes[^]*bodies get sha256-\w+ --write body\.bin --url/)
    const text = await upload('Grüße')
    assert.equal((await secondwind(['bodies', 'get', text, '--url', url])).stdout, 'Grüße')
    assert.equal((await atTerminal(['bodies', 'get', text])).stdout, 'Grüße\n')
  })

  it('that are not there are not found, and files that are not are not sent', async () => {
    const { inPipe } = await aService()
    const gone = await inPipe(['bodies', 'get', `sha256-${'0'.repeat(64)}`])
    assert.deepEqual([gone.exitCode, gone.stderr.includes('error body-not-found')], [3, true], gone.stderr)
    const missing = await inPipe(['bodies', 'put', join(aFolder(), 'none')])
    assert.equal(missing.exitCode, 3)
    assert.match(missing.stderr, /^error not-found[^]*Nothing was run\.\n {2}do {3}secondwind bodies put --help\n$/)
  })
})
