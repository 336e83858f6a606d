import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import { deliveriesOverSeeds, DELIVERIES, type DeliveryReading, type DeliveryScenario } from '@secondwind/lab'
import { atTerminal, secondwind } from '../command-line.test-kit.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'secondwind-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

interface Document {
  readonly scenario: DeliveryScenario
  readonly readings: readonly DeliveryReading[]
  readonly spreads?: { readonly requestsWhileDown: { readonly least: number; readonly most: number } }
  readonly result: { readonly seed: number }
}

async function documentOf(...words: string[]): Promise<Document> {
  return JSON.parse((await atTerminal(['lab', 'run', ...words, '--json'])).stdout) as Document
}

describe('lab run of a delivery', () => {
  it('draws tasks and requests, says the numbers, a verdict, and what to try next', async () => {
    const { stdout, stderr, exitCode } = await atTerminal(['lab', 'run', 'delivery-outage'])
    assert.equal(exitCode, 0)
    assert.match(stdout, /^tasks and requests, in columns of 1 s\n .*above: tasks that wait/)
    assert.match(stdout, /├─+ down ─+┤/)
    assert.match(stdout, /\n {2}delivered +100 % {3}of 3,000 tasks\n {2}requests while down +\d+\n/)
    assert.match(stdout, /\nNo task dies; the backlog is gone .* after the return of the destination\.\n/)
    assert.match(stderr, /try {2}secondwind lab run delivery-outage --runs 20\n/)
  })

  it('has the range of several seeds, as the lab itself has it', async () => {
    const { readings, spreads, result } = await documentOf('delivery-outage', '--runs', '3')
    const own = deliveriesOverSeeds(DELIVERIES['delivery-outage']!, { runs: 3 })
    assert.deepEqual(readings, own.readings)
    assert.deepEqual(spreads, JSON.parse(JSON.stringify(own.spreads)))
    const { stdout } = await atTerminal(['lab', 'run', 'delivery-outage', '--runs', '3'])
    assert.match(stdout, /requests while down +[\d.]+ \(\d+ to \d+\)/)
    assert.match(stdout, /seed +3 of them, least and most in brackets/)
    const { gone99AfterMs } = own.readings[result.seed - 1]!
    const sorted = own.readings.map(one => one.gone99AfterMs!).toSorted((one, other) => one - other)
    assert.equal(gone99AfterMs, sorted[1], 'the run in the middle is drawn')
  })

  it('writes the picture, a report, and every step as CSV', async () => {
    const path = folder()
    const [svg, html] = [join(path, 'run.svg'), join(path, 'run.html')]
    const { stdout } = await atTerminal(['lab', 'run', 'delivery-flaky', '--svg', svg, '--html', html, '--csv'])
    assert.match(readFileSync(svg, 'utf8'), /^<svg /)
    assert.match(readFileSync(html, 'utf8'), /<h1>delivery-flaky: what the service delivers<\/h1>/)
    assert.match(stdout, /^atMs,waiting,answered,failed\n0,9\d\d,\d+,\d+\n1000,/)
  })

  it('takes the retries of a policy, and for what it leaves out the defaults of the service', async () => {
    const { scenario } = await documentOf('delivery-flaky', '--policy', '{"maxAttempts":2}')
    assert.deepEqual(scenario.policy, { maxAttempts: 2 })
    const { stdout } = await atTerminal(['lab', 'run', 'delivery-flaky', '--policy', '{"maxAttempts":2}'])
    assert.match(stdout, /\n {2}dead: attempts +\d+\n/)
    const preset = await documentOf('delivery-flaky', '--policy', 'webhook')
    assert.equal(preset.scenario.policy?.backoffType, 'CUSTOM')
  })

  it('runs a delivery from a file, in which values can be changed', async () => {
    const file = join(folder(), 'world.json')
    const world = {
      kind: 'delivery',
      name: 'mine',
      durationMs: 60_000,
      tasks: [{ name: 'orders', count: 10, arrivals: { kind: 'together' } }],
      destination: {},
    }
    writeFileSync(file, JSON.stringify(world))
    const { readings, scenario } = await documentOf(file, '--set', 'tasks.0.count=25;lane.limit=5')
    assert.deepEqual([readings[0]?.tasks, scenario.lane], [25, { limit: 5 }])
    const wrong = await secondwind(['lab', 'run', file, '--set', 'lane.limt=5'])
    assert.equal(wrong.exitCode, 2)
    assert.match(wrong.stderr, /^error invalid-scenario .*\n\n {2}lane\.limt .*did you mean limit/)
  })

  it('proposes a rate in the lane where the destination has a limit', async () => {
    const { stderr } = await atTerminal(['lab', 'run', 'delivery-limited'])
    assert.match(stderr, /try {2}secondwind lab run delivery-limited --set lane\.rateLimit\.perSecond=50\n/)
  })

  it('refuses what belongs to worlds of callers, and guesses a misspelt name', async () => {
    const because = async (...words: string[]): Promise<string> => (await atTerminal(['lab', ...words])).stderr
    assert.match(await because('run', 'delivery-outage', '--load', '5/s'), /--load belongs to outage/)
    assert.match(await because('run', 'delivery-outage', '--budget', '10%'), /--budget is for callers; .*lane\.budget/)
    assert.match(await because('run', 'delivery-outag'), /did you mean delivery-outage\?/)
    assert.match(
      await because('sweep', 'delivery-outage', '--vary', 'policy.maxAttempts=1,2'),
      /^error invalid-scenario {2}delivery-outage is a delivery of the service, and no world of callers\n/,
    )
  })

  it('is named in the help', async () => {
    const { stdout } = await atTerminal(['lab', 'run', '--help'])
    for (const name of Object.keys(DELIVERIES)) assert.ok(stdout.replaceAll(/\s+/g, ' ').includes(name), name)
  })
})

describe('lab assert of a delivery', () => {
  const words = ['lab', 'assert', '{"maxAttempts":50}', '--scenario', 'delivery-outage']

  it('exits with 0 when all limits hold, and with 6 when one does not', async () => {
    const limits = ['--max-recovery', '5s', '--max-while-down', '200', '--min-served', '99%', '--max-failed', '1']
    const { stdout, exitCode } = await atTerminal([...words, ...limits])
    assert.equal(exitCode, 0)
    assert.match(stdout, /\nrequests while down +yes +\d+, asked for at most 200\n/)
    assert.match(stdout, /\nAll 4 limits hold\.\n/)
    const strict = await atTerminal([...words, '--max-while-down', '10'])
    assert.equal(strict.exitCode, 6)
    assert.match(strict.stdout, /The limit does not hold: requests while down is \d+, asked for at most 10\./)
  })

  it('refuses limits that say nothing about it, and its own for worlds of callers', async () => {
    const foreign = await atTerminal([...words, '--max-peak', '2x'])
    assert.deepEqual([foreign.stdout, foreign.exitCode], ['', 2])
    assert.match(foreign.stderr, /--max-peak belongs to worlds of callers/)
    const { stderr } = await atTerminal(['lab', 'assert', 'userFacing', '--max-failed', '1'])
    assert.match(stderr, /--max-failed belongs to deliveries of the service/)
  })
})
