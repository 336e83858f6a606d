import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { inPipe as program } from '../command-line.test-kit.ts'
import { aService } from '../remote/service.test-kit.ts'

describe('policies put', () => {
  it('shows what a document changes before it is kept, and keeps nothing in a dry run', async () => {
    const { client, atTerminal, inPipe } = await aService()
    await client.policies.put({ policyId: 'payments', maxAttempts: 8 })
    const words = ['policies', 'put', '{"policyId":"payments","maxAttempts":5}']
    const tried = await atTerminal([...words, '--dry-run'])
    assert.match(tried.stdout, /^FIELD +VERSION 1 +THEN\nmaxAttempts +8 +5\n\nNothing was changed\.\n$/)
    assert.equal((await client.policies.get('payments')).version, 1)
    const piped = await inPipe([...words, '--dry-run'])
    assert.equal(piped.stdout, 'field\tbefore\tafter\nmaxAttempts\t8\t5\n')
    const kept = await atTerminal(words)
    assert.match(kept.stdout, /payments@2 is kept; tasks that were accepted before keep the version that they\s+have\./)
    assert.match((await atTerminal(words)).stdout, /Every field is as it is now\.\n\npayments@2 is as it was\./)
    const versions = await inPipe(['policies', 'versions', 'payments', '--ids'])
    assert.equal(versions.stdout, '2\n1\n')
  })

  it('takes a name for a document that has none, and refuses one that has problems with all of them', async () => {
    const { inPipe } = await aService()
    const nameless = await inPipe(['policies', 'put', '{"maxAttempts":5}'])
    assert.equal(nameless.exitCode, 2)
    assert.match(nameless.stderr, /do {3}add {2}--policy-id <name>/)
    const named = await inPipe(['policies', 'put', '-', '--policy-id', 'mine', '--json'], {
      input: '{"maxAttempts":5}',
    })
    assert.equal((JSON.parse(named.stdout) as { policyId: string }).policyId, 'mine')
    const wrong = await inPipe(['policies', 'put', '{"policyId":"a","maxAtempts":5,"maxDelayMs":-1}'])
    assert.match(wrong.stderr, /^error invalid-policy [^]*did you mean maxAttempts\?[^]*maxDelayMs must be/)
  })
})

describe('policies get', () => {
  it('prints a document that the lab and policies put take as it is', async () => {
    const { atTerminal, inPipe } = await aService()
    const { stdout } = await inPipe(['policies', 'get', 'default', '--document'])
    assert.equal((await program(['lab', 'explain', '-'], { input: stdout })).exitCode, 0)
    const again = await atTerminal(['policies', 'put', stdout, '--dry-run'])
    assert.match(again.stdout, /^Every field is as it is now\./)
    assert.match(
      (await atTerminal(['policies', 'get', 'default'])).stdout,
      /Version 1, kept since .*: 50 attempts within\s+1\s+d\.\n$/,
    )
  })

  it('does not find what is not there', async () => {
    const { inPipe } = await aService()
    const { exitCode, stderr } = await inPipe(['policies', 'get', 'nobody'])
    assert.equal(exitCode, 3)
    assert.match(stderr, /^error policy-not-found {2}there is no such policy\n[^]*do {3}secondwind policies list/)
    assert.equal((await inPipe(['policies', 'list', '--ids'])).stdout, 'default\n')
  })
})
