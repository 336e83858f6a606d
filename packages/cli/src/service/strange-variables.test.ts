import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { secondwind } from '../command-line.test-kit.ts'
import { strangeVariables } from './strange-variables.ts'

describe('variables', () => {
  it('that are called like ours and are none are told, with the one that was perhaps meant', () => {
    assert.deepEqual(strangeVariables({ SECONDWIND_CONCURENCY: '5', SECONDWIND_COLOUR_OF_IT: 'red' }), [
      'SECONDWIND_CONCURENCY is set, and nobody reads it; did you mean SECONDWIND_CONCURRENCY?',
      'SECONDWIND_COLOUR_OF_IT is set, and nobody reads it',
    ])
  })

  it('of the service, of its users, of others and of Kubernetes are none of them', () => {
    const known = { SECONDWIND_ADMIN_KEY_FILE: '', SECONDWIND_CONFIG: '', SECONDWIND_KEY: '', SECONDWIND_TENANT: '' }
    const others = { PATH: '', SECONDWIND_SERVICE_HOST: '10.0.0.7', SECONDWIND_PORT_4747_TCP_ADDR: '10.0.0.7' }
    assert.deepEqual(strangeVariables({ ...known, ...others }), [])
  })

  it('with a slip are said by serve on stderr, and found by doctor', async () => {
    const env = { SECONDWIND_CONCURENCY: '5' }
    const said = 'SECONDWIND_CONCURENCY is set, and nobody reads it; did you mean SECONDWIND_CONCURRENCY?'
    // Refused in the end, so that nothing runs on.
    const serve = await secondwind(['serve', '--port', '0', '--host', '192.0.2.1', '--store', 'memory'], { env })
    assert.ok(serve.stderr.startsWith(`${said}\n`), serve.stderr)
    const { stdout } = await secondwind(['doctor', '--url', 'http://127.0.0.1:9', '--json'], { env })
    const { findings } = JSON.parse(stdout) as { findings: readonly { level: string; say: string }[] }
    assert.equal(findings.find(({ say }) => say === said)?.level, 'warn', stdout)
  })
})
