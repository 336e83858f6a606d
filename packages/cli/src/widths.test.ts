import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { atTerminal } from './command-line.test-kit.ts'
import { COMMANDS } from './commands.ts'

/** Lines that are longer, but for examples: those are to be pasted, and a break would break them. */
async function tooLong(words: readonly string[], columns: number): Promise<readonly string[]> {
  const { stdout } = await atTerminal(words, { columns })
  assert.ok(stdout.length > 0)
  return stdout.split('\n').filter(line => line.length > columns && !line.startsWith('  $ secondwind'))
}

const LONG_NAMES = JSON.stringify({
  name: 'long names',
  durationMs: 5_000,
  clients: [
    {
      name: 'shop',
      calls: 'payments-gateway-eu',
      pipeline: 'p',
      arrivals: { kind: 'constant', perSecond: 10 },
    },
  ],
  pipelines: { p: { maxAttempts: 3 } },
  dependencies: { 'payments-gateway-eu': { serviceMs: 5, servers: 4 } },
})
const POLICIES = ['{"maxAttempts":5,"initialDelayMs":200,"maxDelayMs":4000}', '{"policyId":"mine","maxAttempts":2}']

const PAGES: readonly (readonly string[])[] = [
  ['lab', 'run'],
  ['lab', 'run', LONG_NAMES],
  ['lab', 'compare', ...POLICIES],
  ['lab', 'compare', ...POLICIES, '--scenario', LONG_NAMES],
  ['lab', 'sweep', '--vary', 'policy.maxAttempts=1..4', '--budget', 'off'],
  ['lab', 'tiers', 'edge=3', 'api=3', 'db=3', '--failure', '0.5'],
  ['lab', 'reproduce', 'jitter-order', 'hedging', 'client-throttling', 'tiers'],
  ['lab', 'reproduce', '--list'],
  ['lab', 'cases', 'queued-herd', '--scale', '0.01'],
  ['lab', 'cases', '--list'],
]

for (const columns of [60, 80, 160])
  describe(`on a terminal of ${columns} columns`, () => {
    for (const words of PAGES)
      it(`fits: ${words.join(' ').slice(0, 60)}`, async () => {
        assert.deepEqual(await tooLong(words, columns), [])
      })

    it('fits: all help', async () => {
      const nouns = COMMANDS.flatMap(({ path }) => (path.length > 1 ? [path.slice(0, 1)] : []))
      const paths = [[], ...nouns, ...COMMANDS.map(({ path }) => path)]
      for (const path of paths) assert.deepEqual(await tooLong([...path, '--help'], columns), [])
    })
  })

describe('a narrow page', () => {
  it('breaks headings in two before it leaves a column out', async () => {
    const { stdout } = await atTerminal(['lab', 'tiers', 'edge=3', 'db=3'], { columns: 60 })
    assert.match(stdout, /\n +CALLS PER +WORST\nTIER +MAXATTEMPTS +OPERATION +SIMULATED +CASE\n/)
  })

  it('keeps the tolerance of a published result beside it', async () => {
    const { stdout } = await atTerminal(['lab', 'reproduce', 'jitter-order', 'client-throttling'], { columns: 80 })
    assert.equal(stdout.match(/THEIRS +OURS +TOLERANCE +VERDICT/g)?.length, 2)
  })

  it('calls a policy by the name that it gives itself, or by its beginning', async () => {
    const { stdout } = await atTerminal(['lab', 'compare', ...POLICIES, '--load', '20/s', '--capacity', '50/s'])
    assert.match(stdout, /\n\{"maxAttempts":5,"initi… .*\nmine .*\n/)
  })

  it('leaves a gap between a long name and its number', async () => {
    const { stdout } = await atTerminal(['lab', 'run', LONG_NAMES])
    assert.match(stdout, /peak at payments-gateway-eu +\d/)
  })
})
