import assert from 'node:assert/strict'
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@secondwind/client'
import { describe, it, vi } from 'vitest'
import { EXIT_CODES } from '../exit-codes.ts'
import { sayKept } from './kept.ts'
import { startProgram, temporaryDirectory, type RunningProgram } from './serve.test-kit.ts'

// Processes and disks take as long as the machine lets them.
vi.setConfig({ testTimeout: 60_000 })

async function withTasksWaiting(words: readonly string[]): Promise<RunningProgram> {
  const program = await startProgram([...words, '--port', '0'])
  const { tasks } = createClient({ url: program.url })
  for (let n = 0; n < 3; n++) await tasks.enqueue({ targetUrl: `${program.url}/_flaky/200`, delayMs: 600_000 })
  return program
}

describe('the last line of a service', () => {
  it('says of what was in memory that it is gone, and how many tasks had not ended', async () => {
    const gone = (unfinished: number): string => sayKept({ kind: 'nothing', unfinished }, { options: {} })
    assert.equal(gone(0), 'what was in memory is gone, and no task had been left unfinished')
    assert.equal(gone(1), 'what was in memory is gone, and with it 1 unfinished task')
    const program = await withTasksWaiting(['dev', '--store', 'memory'])
    program.kill('SIGTERM')
    assert.equal(await program.exitCode, EXIT_CODES.done)
    assert.match(program.said(), /\nstopped; what was in memory is gone, and with it 3 unfinished tasks\n$/)
  })

  const LOSSES: readonly (readonly [what: string, lose: (data: string) => void, said: RegExp])[] = [
    ['data was deleted', data => rmSync(data, { recursive: true }), / {2}tasks\.db was moved, deleted or replaced/],
    ['file was moved', data => renameSync(join(data, 'tasks.db'), join(data, 'old')), / {2}tasks\.db was moved/],
    ['lock was deleted', data => rmSync(join(data, 'lock')), / {2}lock was moved, deleted or replaced/],
  ]
  it.each(LOSSES)('does not say that nothing is lost when its %s while it ran', async (_, lose, said) => {
    const data = temporaryDirectory()
    const program = await withTasksWaiting(['dev', '--data', data])
    lose(data)
    program.kill('SIGTERM')
    assert.equal(await program.exitCode, EXIT_CODES.failed)
    assert.doesNotMatch(program.said(), /nothing is lost/)
    assert.match(program.said(), /\nerror store-unreachable {2}the service has stopped, and some of what it kept may/)
    assert.match(program.said(), said)
    assert.ok(program.said().endsWith(`do   secondwind doctor --port 0 --data ${data}\n`), program.said())
  })
})
