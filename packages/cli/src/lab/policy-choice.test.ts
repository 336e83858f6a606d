import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { atTerminal } from '../command-line.test-kit.ts'

interface Run {
  readonly scenario: {
    readonly clients: readonly { readonly pipeline?: string }[]
    readonly pipelines: { readonly [name: string]: Policy }
  }
}

interface Policy {
  readonly retry?: object
  readonly budget?: unknown
}

const group = (name: string, pipeline?: string): object => ({
  name,
  calls: 'api',
  arrivals: { kind: 'constant', perSecond: 10 },
  ...(pipeline && { pipeline }),
})

/** Two groups, each by a policy of its own, and a tier below by a third. */
const WORLD = {
  name: 'mine',
  durationMs: 2_000,
  clients: [group('web', 'patient'), group('batch', 'hasty')],
  pipelines: {
    patient: { maxAttempts: 3, attemptTimeoutMs: 1_000 },
    hasty: { name: 'hasty', retry: { maxAttempts: 6 }, breaker: {} },
    inner: { maxAttempts: 2 },
  },
  dependencies: { api: { serviceMs: 5, downstream: [{ calls: 'db', pipeline: 'inner' }] }, db: { serviceMs: 5 } },
}

async function worldOf(...words: string[]): Promise<Run['scenario']> {
  const { stdout, stderr } = await atTerminal(['lab', 'run', JSON.stringify(WORLD), ...words, '--json'])
  assert.equal(stderr, '')
  return (JSON.parse(stdout) as Run).scenario
}

describe('--budget', () => {
  it('changes the budget of every policy by which clients go, and nothing else of it', async () => {
    const { clients, pipelines } = await worldOf('--budget', '10/s')
    const budget = { kind: 'rate', perSecond: 10, burst: 10 }
    assert.deepEqual(
      clients.map(({ pipeline }) => pipeline),
      ['patient', 'hasty'],
    )
    assert.deepEqual(pipelines, {
      patient: { name: 'patient', retry: { maxAttempts: 3, attemptTimeoutMs: 1_000 }, budget },
      hasty: { name: 'hasty', retry: { maxAttempts: 6 }, breaker: {}, budget },
      inner: { maxAttempts: 2 },
    })
  })

  it('goes with the policy of --policy, and is not undone by --set', async () => {
    const { pipelines } = await worldOf('--policy', '{"maxAttempts":2}', '--budget', 'off', '--set', 'durationMs=1000')
    assert.deepEqual(
      Object.values(pipelines).map(({ budget }) => budget),
      [false, false, undefined],
    )
    const changed = await worldOf('--budget', 'off', '--set', 'pipelines.patient={"maxAttempts":9}')
    assert.deepEqual(changed.pipelines['patient'], { name: 'patient', retry: { maxAttempts: 9 }, budget: false })
  })

  it('is refused where no client goes by a policy', async () => {
    const bare = JSON.stringify({ ...WORLD, clients: [group('web')] })
    const { stdout, stderr, exitCode } = await atTerminal(['lab', 'run', bare, '--budget', 'off'])
    assert.deepEqual([stdout, exitCode], ['', 2])
    assert.match(stderr, /^error missing-option {2}there is no policy to change\n/)
    const { stderr: suggested } = await atTerminal(['lab', 'run', bare])
    assert.match(suggested, /try {2}secondwind lab run '.*' --policy userFacing\n/)
  })
})

describe('a world of one’s own', () => {
  it('keeps its policies but for the field that is swept', async () => {
    const world = { ...WORLD, dependencies: { api: { serviceMs: 5, errorRate: 1 } } }
    const words = ['lab', 'sweep', JSON.stringify(world), '--vary', 'policy.maxAttempts=1,3', '--budget', 'off']
    const { stdout } = await atTerminal([...words, '--json'])
    const { variants } = JSON.parse(stdout) as { variants: { readings: { amplification: number; p50Ms: number }[] }[] }
    assert.deepEqual(
      variants.map(({ readings }) => Math.round(readings[0]!.amplification)),
      [1, 3],
    )
    const own = await atTerminal([
      'lab',
      'sweep',
      JSON.stringify(WORLD),
      '--vary',
      'policy.attemptTimeoutMs=1',
      '--json',
    ])
    const [slow] = (JSON.parse(own.stdout) as { variants: { readings: { servedShare: number }[] }[] }).variants
    assert.equal(slow!.readings[0]!.servedShare, 0)
  })

  it('is compared by its own policies when nobody names another', async () => {
    const words = ['lab', 'compare', '--scenario', JSON.stringify(WORLD), '--set', 'dependencies.api.errorRate=1']
    const { stdout } = await atTerminal([...words, '--budget', 'off,10%', '--json'])
    const { variants } = JSON.parse(stdout) as { variants: { name: string; readings: { amplification: number }[] }[] }
    // 3 and 6 attempts, in equal parts.
    assert.equal(variants[0]!.name, 'no budget')
    assert.equal(variants[0]!.readings[0]!.amplification.toFixed(1), '4.5')
  })
})
