import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import { atTerminal, secondwind } from '../command-line.test-kit.ts'

/** Small enough for a test, large enough to storm. */
const SMALL = ['--load', '50/s', '--capacity', '80/s', '--outage', '5s']

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'secondwind-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

describe('lab run', () => {
  it('draws the arrivals, says the numbers, a verdict, and what to try next', async () => {
    const { stdout, stderr, exitCode } = await atTerminal(['lab', 'run', ...SMALL, '--budget', 'off'])
    assert.equal(exitCode, 0)
    assert.match(stdout, /^calls at dependency.*\n.*capacity 80\/s/)
    assert.match(stdout, /calls per operation +1\.\d+/)
    assert.match(stdout, /These retries make the peak [\d.]+ × as high and save almost nothing/)
    assert.match(stderr, /try {2}secondwind lab run --load 50\/s --capacity 80\/s --outage 5s --budget 10%/)
  })

  it('gives the same bytes for the same seed, in another process too', async () => {
    const words = ['lab', 'run', ...SMALL, '--seed', '7', '--json']
    const [here, there] = [await atTerminal(words), await secondwind(words)]
    assert.equal(here.stdout, there.stdout)
    const other = await atTerminal(['lab', 'run', ...SMALL, '--seed', '8', '--json'])
    assert.notEqual(other.stdout, here.stdout)
  })

  it('writes the picture, a report, and every second as CSV', async () => {
    const path = folder()
    const [svg, html] = [join(path, 'run.svg'), join(path, 'run.html')]
    const { stdout, stderr } = await atTerminal(['lab', 'run', ...SMALL, '--svg', svg, '--html', html, '--csv'])
    assert.match(readFileSync(svg, 'utf8'), /^<svg /)
    assert.match(readFileSync(html, 'utf8'), /^<!doctype html>/)
    assert.match(stderr, /wrote .*run\.svg\nwrote .*run\.html\n/)
    const [heading, first] = stdout.split('\n')
    assert.equal(heading, 'atMs,first,retries,hedges,refused,queue,good')
    assert.match(first!, /^0,\d+,0,0,0,\d+,\d+$/)
  })

  it('gives means and their confidence over several seeds', async () => {
    const { stdout } = await atTerminal(['lab', 'run', ...SMALL, '--runs', '3'])
    assert.match(stdout, /seed +3 of them, with 95 % confidence/)
    assert.match(stdout, /calls per operation +1\.\d+ \(1(\.\d+)? to 1\.\d+\)/)
  })

  it('shares many runs out to threads, with the same results', async () => {
    const readingsOf = (stdout: string): unknown[] => (JSON.parse(stdout) as { readings: unknown[] }).readings
    const many = await secondwind(['lab', 'run', ...SMALL, '--runs', '100', '--json'])
    const few = await atTerminal(['lab', 'run', ...SMALL, '--runs', '2', '--seed', '99', '--json'])
    assert.equal(readingsOf(many.stdout).length, 100)
    assert.deepEqual(readingsOf(many.stdout).slice(98), readingsOf(few.stdout))
  })

  it('runs a scenario from a file, in which values can be changed', async () => {
    const file = join(folder(), 'world.json')
    const world = {
      name: 'mine',
      durationMs: 2_000,
      clients: [{ name: 'shop', calls: 'stock', arrivals: { kind: 'constant', perSecond: 10 } }],
      dependencies: { stock: { serviceMs: 5 } },
    }
    writeFileSync(file, JSON.stringify(world))
    const { stdout } = await atTerminal(['lab', 'run', file, '--set', 'clients.0.arrivals.perSecond=20', '--json'])
    const { result } = JSON.parse(stdout) as { result: { clients: { shop: { operations: number } } } }
    // The first tick comes after one period, and none at the end itself.
    assert.equal(result.clients.shop.operations, 39)
  })

  it('refuses a scenario with every problem at once, and runs nothing', async () => {
    const words = ['lab', 'run', '{"name":"mine","durationMs":-1,"clients":[],"dependancies":{}}']
    const { stdout, stderr, exitCode } = await secondwind(words)
    assert.deepEqual([stdout, exitCode], ['', 2])
    assert.match(stderr, /^error invalid-scenario/)
    assert.match(stderr, /durationMs/)
    assert.match(stderr, /dependancies .*did you mean dependencies/)
  })

  it('guesses which scenario or policy a misspelt name was meant to be, and knows a policy from a scenario', async () => {
    const because = async (...words: string[]): Promise<string> => (await atTerminal(['lab', 'run', ...words])).stderr
    assert.match(await because('outag'), /^error not-found .*\n\n {2}outag is no file here; did you mean outage\?/)
    assert.match(await because('--policy', 'userfacing'), /userfacing is no file here; did you mean userFacing\?/)
    assert.match(await because('nothing-like-it'), /is no file here, and none of outage, herd, shop, /)
    assert.match(await because('shop'), /^error unknown-name {2}shop is a case with variants: name one of them\n/)
    const policy = await because('{"maxAttempts":3}')
    assert.match(policy, /is a policy, and no scenario\n/)
    assert.match(policy, /\n {2}do {3}secondwind lab run --policy '{"maxAttempts":3}'\n/)
  })

  it('refuses sizes that no memory holds, with the memory that they would need', async () => {
    const { stderr, exitCode } = await atTerminal(['lab', 'run', 'herd', '--clients', '100000000'])
    assert.equal(exitCode, 2)
    assert.match(stderr, /would need \d+ GB of memory/)
  })

  it('says at once all that is wrong with its options', async () => {
    const words = ['lab', 'run', '--seed', 'x', '--load', 'much', '--budget', 'some', '--svg', '/no/such/folder/x.svg']
    const { stdout, stderr, exitCode } = await atTerminal(words)
    assert.deepEqual([stdout, exitCode], ['', 2])
    assert.match(stderr, /^error wrong-option {2}4 values cannot be read/)
    for (const flag of ['--seed', '--load', '--budget', '--svg']) assert.ok(stderr.includes(`  ${flag} must be`), flag)
  })

  it('refuses flags that say nothing about the world that was asked for', async () => {
    const { stderr, exitCode } = await atTerminal(['lab', 'run', 'herd', '--load', '5/s', '--outage', '5s'])
    assert.equal(exitCode, 2)
    assert.match(stderr, /--load belongs to outage .*\n {2}--outage belongs to outage/)
  })
})

describe('lab compare', () => {
  it('has a row for each jitter, and two in one picture', async () => {
    const words = ['lab', 'compare', '--jitter', 'NONE,full', '--clients', '300']
    const { stdout, exitCode } = await atTerminal(words)
    assert.equal(exitCode, 0)
    assert.match(stdout, /only NONE .*only FULL/)
    assert.match(stdout, /\nNONE +[\d.]+ .*\nFULL +[\d.]+ /)
    const piped = await secondwind(words)
    assert.match(piped.stdout, /^policy\tamplification\tpeakPerSecond\t.*\nNONE\t[\d.]+\t\d+\t/)
    assert.match(piped.stderr, /has the lowest peak/)
  })

  it('compares policies and budgets in one world', async () => {
    const { stdout } = await atTerminal(['lab', 'compare', 'userFacing', '--budget', 'off,10%,5/s', ...SMALL])
    assert.match(stdout, /\nno budget .*\nbudget 10% .*\nbudget 5\/s /)
    const all = await atTerminal(['lab', 'compare', 'userFacing', 'stripe', '--budget', 'off,5/s', ...SMALL, '--csv'])
    assert.match(all.stdout, /\n"userFacing, budget 5\/s".*\n"stripe, no budget"/)
  })

  it('needs two', async () => {
    const { stderr, exitCode } = await atTerminal(['lab', 'compare', 'userFacing'])
    assert.equal(exitCode, 2)
    assert.match(stderr, /^error nothing-to-compare/)
  })
})

describe('lab sweep', () => {
  it('shows one parameter of the policy with many values', async () => {
    const words = ['lab', 'sweep', '--vary', 'policy.maxAttempts=1..4', '--budget', 'off', ...SMALL, '--json']
    const { variants } = JSON.parse((await atTerminal(words)).stdout) as {
      variants: { name: string; readings: { amplification: number }[] }[]
    }
    const calls = variants.map(({ readings }) => readings[0]!.amplification)
    assert.equal(calls[0], 1)
    assert.deepEqual(
      calls.toSorted((one, other) => one - other),
      calls,
    )
  })

  it('shows one parameter of the scenario, and refuses a path that leads nowhere', async () => {
    const words = ['lab', 'sweep', ...SMALL, '--vary', 'dependencies.dependency.troubles.0.errorRate=0,1', '--csv']
    assert.equal((await atTerminal(words)).stdout.trimEnd().split('\n').length, 3)
    const { stderr, exitCode } = await atTerminal(['lab', 'sweep', ...SMALL, '--vary', 'clients.9.count=1,2'])
    assert.equal(exitCode, 2)
    assert.match(stderr, /^error no-such-path/)
  })

  it('refuses every value that is wrong at once', async () => {
    const { stdout, stderr, exitCode } = await atTerminal(['lab', 'sweep', '--vary', 'policy.maxAttempts=0,3,x'])
    assert.deepEqual([stdout, exitCode], ['', 2])
    assert.match(stderr, /^error invalid-scenario {2}2 of 3 have problems\n\n {2}0: .*\(is 0\)\n {2}x: .*\(is "x"\)\n/)
  })
})

describe('lab assert', () => {
  const words = ['lab', 'assert', 'userFacing', ...SMALL]

  it('exits with 0 when all limits hold', async () => {
    const { stdout, exitCode } = await secondwind([...words, '--max-amplification', '3', '--min-served', '50%'])
    assert.equal(exitCode, 0)
    assert.match(stdout, /^policy\tholds\tamplification\t.*\nuserFacing\ttrue\t1\.\d+\t3\t0\.\d+\t0\.5\n/)
  })

  it('exits with 6 when one does not, and says which', async () => {
    const { stdout, stderr, exitCode } = await secondwind([
      ...words,
      '--max-amplification',
      '1',
      '--max-recovery',
      '10s',
    ])
    assert.equal(exitCode, 6)
    assert.match(stdout, /\nuserFacing\tfalse\t1\.\d+\t1\t\d+\t10000\n/)
    assert.match(stderr, /^1 of 2 limits does not hold: amplification is 1\.\d+ ×, asked for at most 1 ×\./)
  })

  it('leads to the picture of the same world', async () => {
    const { stderr } = await atTerminal(['lab', 'assert', '{"maxAttempts":5}', ...SMALL, '--max-peak', '1x'])
    const run = `lab run outage --policy '{"maxAttempts":5}' --load 50/s --outage 5s --capacity 80/s`
    assert.match(stderr, new RegExp(`\\ntry {2}secondwind ${run.replaceAll(/[{}]/g, String.raw`\$&`)}\\n`))
  })

  it('is no test without a limit', async () => {
    const { stderr, exitCode } = await atTerminal(words)
    assert.equal(exitCode, 2)
    assert.match(stderr, /^error nothing-to-assert/)
  })
})

describe('lab reproduce', () => {
  it('shows ours beside theirs', async () => {
    const { stdout, exitCode } = await atTerminal(['lab', 'reproduce', 'hedging'])
    assert.equal(exitCode, stdout.includes('FAIL') ? 6 : 0)
    assert.match(stdout, /Dean and Barroso.*\n/)
    assert.match(stdout, /THEIRS +OURS +TOLERANCE +VERDICT/)
    assert.match(stdout, /published results (?:do not )?come out here/)
  })

  it('lists what there is, and names what there is not', async () => {
    const { stdout } = await atTerminal(['lab', 'reproduce', '--list'])
    assert.match(stdout, /\ntail-at-scale /)
    const { stderr, exitCode } = await atTerminal(['lab', 'reproduce', 'cold-fusion'])
    assert.equal(exitCode, 2)
    assert.match(stderr, /cold-fusion is none of /)
  })
})
