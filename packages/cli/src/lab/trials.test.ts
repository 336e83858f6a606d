import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import { outageWorld, runScenario, type RunResult, type Scenario } from '@secondwind/lab'
import { atTerminal } from '../command-line.test-kit.ts'
import { isQuick, runJob } from '../threads/jobs.ts'

const SMALL = ['--load', '50/s', '--capacity', '80/s', '--outage', '5s']

function outage(loadPerSecond: number): Scenario {
  return outageWorld({ loadPerSecond, capacityPerSecond: 500, outageMs: 5_000, processes: 1, policy: {} })
}

async function reportOf(...words: string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'secondwind-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'report.html')
  await atTerminal(['lab', ...words, '--html', file])
  return readFileSync(file, 'utf8')
}

describe('a run among many', () => {
  it('leaves only its readings behind', () => {
    const run = runJob({ kind: 'scenario', scenario: outage(50), seed: 1, isWhole: false })
    assert.deepEqual([Object.keys(run), Object.keys(run.readings)], [['readings'], ['dependency']])
  })

  it('is drawn if it is the one in the middle, with all that it would be alone', async () => {
    const { stdout } = await atTerminal(['lab', 'run', ...SMALL, '--runs', '3', '--json'])
    const { scenario, result, readings } = JSON.parse(stdout) as {
      scenario: Scenario
      result: RunResult
      readings: { peakPerSecond: number }[]
    }
    const peaks = readings.map(({ peakPerSecond }) => peakPerSecond).toSorted((one, other) => one - other)
    assert.equal(result.dependencies['dependency']!.peakPerSecond, peaks[1])
    assert.deepEqual(result, JSON.parse(JSON.stringify(runScenario(scenario, { seed: result.seed }))))
  })

  it('is done here if it is short, and by a thread if that cannot be known', () => {
    const job = { kind: 'scenario', seed: 1, isWhole: false } as const
    assert.ok(isQuick({ ...job, scenario: outage(300) }))
    assert.ok(!isQuick({ ...job, scenario: outage(100_000) }))
    assert.ok(isQuick({ kind: 'case', name: 'queued-herd', scale: 0.1, seed: 1 }))
    assert.ok(!isQuick({ kind: 'case', name: 'shop', scale: 0.1, seed: 1 }))
    assert.ok(!isQuick({ kind: 'reproduction', name: 'hedging', effort: 'quick' }))
  })
})

describe('a report', () => {
  it('says which of many runs it draws', async () => {
    assert.match(await reportOf('run', ...SMALL, '--runs', '3'), /One of 3 runs is drawn, .*: seed [123]</)
    assert.doesNotMatch(await reportOf('run', ...SMALL), /runs is drawn/)
    assert.match(await reportOf('compare', 'userFacing', 'stripe', ...SMALL, '--runs', '2'), /One of 2 runs is drawn/)
  })

  it('and a page say of how many seeds their numbers are the means', async () => {
    const words = ['compare', 'userFacing', 'stripe', ...SMALL, '--runs', '2']
    assert.match(await reportOf(...words), /Means of 2 seeds/)
    assert.match(
      (await atTerminal(['lab', ...words])).stdout,
      /\nstripe .*\nMeans of 2 seeds; --csv and --json have the range/,
    )
    assert.doesNotMatch((await atTerminal(['lab', ...words.slice(0, -2)])).stdout, /Means of/)
  })

  it('calls a swept value by its parameter, and says what to try next', async () => {
    const html = await reportOf('sweep', '--vary', 'policy.maxAttempts=1,3', '--budget', 'off', ...SMALL)
    assert.match(html, /Note\.<\/strong> maxAttempts 1 has the lowest peak/)
    assert.match(html, /<h2>Try next<\/h2><pre>secondwind lab sweep .* --runs 20<\/pre>/)
  })
})

describe('many worlds', () => {
  const vary = ['lab', 'sweep', '--vary', 'policy.maxAttempts=1,2,3', ...SMALL]

  it('are numbers for programs, with their range where there are several runs', async () => {
    const one = (await atTerminal([...vary, '--csv'])).stdout.split('\n')
    assert.equal(one[0], 'maxAttempts,amplification,peakPerSecond,overCapacityMs,servedShare,p50Ms,p99Ms,lastEndMs')
    assert.match(one[1]!, /^1(,[\d.]+){7}$/)
    const two = (await atTerminal([...vary, '--csv', '--runs', '2'])).stdout.split('\n')
    assert.match(two[0]!, /^maxAttempts,amplification,amplificationLow,amplificationHigh,/)
    assert.match(two[3]!, /^3(,-?[\d.]+){21}$/)
  })

  it('have the same range in their document', async () => {
    interface Document {
      readonly variants: { estimates?: { amplification: { mean: number; low: number; high: number } } }[]
    }
    const documentOf = async (...words: string[]): Promise<Document> =>
      JSON.parse((await atTerminal([...vary, ...words])).stdout) as Document
    const { amplification } = (await documentOf('--json', '--runs', '2')).variants[2]!.estimates!
    const row = (await atTerminal([...vary, '--csv', '--runs', '2'])).stdout.split('\n')[3]!
    assert.equal(row.split(',').slice(1, 4).join(), [amplification.mean, amplification.low, amplification.high].join())
    assert.equal((await documentOf('--json')).variants[2]!.estimates, undefined)
  })

  it('are judged by the fewest calls where several serve as many as any', async () => {
    const { stdout } = await atTerminal([...vary, '--set', 'dependencies.dependency.troubles.0.errorRate=0'])
    assert.match(
      stdout.replaceAll('\n', ' '),
      /maxAttempts \d .*makes the fewest calls of those that serve most, 100 %: 1 call per operation/,
    )
  })
})
