import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { secondwind, atTerminal } from '../command-line.test-kit.ts'

const GOOD = '{"name":"payments","retry":{"attemptTimeoutMs":2000},"breaker":{}}'

describe('lab explain', () => {
  it('says what a policy does, and which points of the checklist it meets', async () => {
    const { stdout, stderr, exitCode } = await secondwind(['lab', 'explain', GOOD])
    assert.match(stdout, /^3 attempts, each within 100 ms, 200 ms of the one before/)
    assert.match(stdout, /calls at most +3 for each operation/)
    assert.match(stdout, /production checklist: 0 not met, 10 met, 10 not visible from a policy/)
    assert.equal(exitCode, 0)
    assert.equal(stderr, `\ntry  secondwind lab run outage --policy '${GOOD}'\n`)
  })

  it('leads to an outage with the same load and capacity', async () => {
    const { stderr } = await atTerminal(['lab', 'explain', GOOD, '--load', '100/s', '--capacity', '500/s'])
    assert.match(stderr, /try {2}secondwind lab run outage --policy .* --load 100\/s --capacity 500\/s\n/)
  })

  it('reads a file, stdin or the name of a preset', async () => {
    const fromInput = await secondwind(['lab', 'explain', '-', '--json'], { input: GOOD })
    const fromWords = await atTerminal(['lab', 'explain', GOOD, '--json'])
    assert.equal(fromInput.stdout, fromWords.stdout)
    const { stdout } = await atTerminal(['lab', 'explain', 'stripe', '--json'])
    assert.equal((JSON.parse(stdout) as { policy: { name: string } }).policy.name, 'stripe')
    const marked = await secondwind(['lab', 'explain', '-', '--json'], { input: `\uFEFF${GOOD}` })
    assert.equal(marked.stdout, fromWords.stdout)
    const missing = await secondwind(['lab', 'explain', 'nowhere.json'])
    assert.deepEqual([missing.stdout, missing.exitCode], ['', 3])
    assert.match(missing.stderr, /^error not-found {2}there is no policy nowhere\.json/)
  })

  it('refuses a policy with every problem at once', async () => {
    const { stdout, stderr, exitCode } = await secondwind(['lab', 'explain', '{"maxAtempts":3,"maxDelayMs":-1}'])
    assert.deepEqual([stdout, exitCode], ['', 2])
    assert.match(stderr, /^error invalid-policy .* has 2 problems/)
    assert.match(stderr, /maxAtempts is an unknown field; did you mean maxAttempts\? \(is 3\)/)
    assert.match(stderr, /maxDelayMs must be a whole number .* \(is -1\)/)
  })

  it('knows a scenario that was given for a policy, however much is wrong with it, and where it belongs', async () => {
    const scenario = '{"clients":[],"dependencies":{}}'
    const { stderr, exitCode } = await atTerminal(['lab', 'explain', scenario])
    assert.equal(exitCode, 2)
    assert.match(
      stderr,
      /^error invalid-policy {2}\{"clients":\[\],"dependencies":\{\}\} is a scenario, and no policy\n/,
    )
    assert.ok(stderr.includes(`do   secondwind lab run '${scenario}'\n`), stderr)
    const compared = await atTerminal(['lab', 'compare', 'userFacing', scenario])
    assert.match(compared.stderr, /is a scenario, and no policy/)
  })

  it('says what is wrong with something that is no JSON', async () => {
    const { stderr, exitCode } = await secondwind(['lab', 'explain', '-'], { input: '{"maxAttempts": }' })
    assert.equal(exitCode, 2)
    assert.match(stderr, /^error no-json {2}the policy from stdin is no JSON\n\n {2}Unexpected token '}'/)
  })

  it('exits with 6 for a point that is not met only if it is asked to', async () => {
    const words = ['lab', 'explain', '{"jitterType":"NONE"}']
    assert.equal((await atTerminal(words)).exitCode, 0)
    const strict = await atTerminal([...words, '--strict'])
    assert.equal(strict.exitCode, 6)
    assert.match(strict.stdout, /✕ K5 {2}waits are spread by jitter/)
    assert.match(strict.stderr, /try {2}secondwind lab advise/)
  })

  it('judges the capacity when it knows load and capacity, and one says nothing without the other', async () => {
    const { stdout } = await atTerminal(['lab', 'explain', GOOD, '--load', '100/s', '--capacity', '105/s'])
    assert.match(stdout, /✕ K20 there is capacity for what failures add/)
    const half = await atTerminal(['lab', 'explain', GOOD, '--load', '100/s'])
    assert.equal(half.exitCode, 2)
    assert.match(half.stderr, /^error missing-option {2}--load needs --capacity/)
  })

  it('says what retries add in a second, once it knows the load', async () => {
    const words = ['lab', 'explain', GOOD, '--load', '100/s', '--capacity', '500/s']
    const { stdout } = await atTerminal(words)
    assert.match(stdout, /SUCCEEDED +CALLS +RETRIES\n/)
    assert.match(stdout, /\n +50 % +1\.75 +87\.5 % +175\/s +75\/s\n/)
    const { retryLoad } = JSON.parse((await atTerminal([...words, '--json'])).stdout) as {
      retryLoad: { failureRate: number; callsPerSecond: number }[]
    }
    assert.equal(retryLoad.find(({ failureRate }) => failureRate === 0.5)!.callsPerSecond, 175)
    assert.doesNotMatch((await atTerminal(['lab', 'explain', GOOD])).stdout, /RETRIES\n/)
  })

  it('fits the terminal', async () => {
    for (const columns of [60, 80, 120]) {
      const { stdout } = await atTerminal(['lab', 'explain', 'webhook'], { columns })
      for (const line of stdout.split('\n')) assert.ok(line.length <= columns, line)
    }
  })
})
