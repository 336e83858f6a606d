import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient, type EnqueuedTask } from '@secondwind/client'
import { describe, it, vi } from 'vitest'
import { startProgram, temporaryDirectory } from './serve.test-kit.ts'

// Processes and disks take as long as the machine lets them.
vi.setConfig({ testTimeout: 60_000 })

describe('the introduction of secondwind dev', () => {
  it('has a curl line that works with the key in the environment, where keys are in force', async () => {
    const data = temporaryDirectory()
    const [file, key] = [join(data, 'admin.key'), 'k'.repeat(64)]
    writeFileSync(file, key, { mode: 0o600 })
    const words = ['dev', '--port', '0', '--data', data, '--admin-key-file', file]
    const { url, introduction } = await startProgram(words)
    const line = introduction.slice(introduction.indexOf('curl ')).trim().replace('curl ', 'curl -s ')
    const env = { ...process.env, SECONDWIND_KEY: key }
    const task = JSON.parse(execFileSync('sh', ['-c', line], { encoding: 'utf8', env })) as EnqueuedTask
    assert.equal((await createClient({ url, key }).waitFor(task.taskId)).status, 'SUCCEEDED')
  })
})
