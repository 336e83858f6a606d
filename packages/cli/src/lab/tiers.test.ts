import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { atTerminal, secondwind } from '../command-line.test-kit.ts'

interface Tiers {
  readonly tiers: readonly {
    readonly name: string
    readonly worstCase: number
    readonly callsPerOperation: number
    readonly simulated?: number
  }[]
}

async function tiersOf(...words: string[]): Promise<Tiers['tiers']> {
  const { stdout } = await atTerminal(['lab', 'tiers', ...words, '--json'])
  return (JSON.parse(stdout) as Tiers).tiers
}

describe('lab tiers', () => {
  it('multiplies the attempts of all tiers when every call fails', async () => {
    const tiers = await tiersOf('edge=3', 'api=3', 'db=3')
    assert.deepEqual(
      tiers.map(({ worstCase }) => worstCase),
      [3, 9, 27],
    )
    assert.equal((await tiersOf('a=3', 'b=3', 'c=3', 'd=3')).at(-1)?.worstCase, 81)
  })

  it('lets a tier above retry only what those below have given up, unless they fail by themselves', async () => {
    const [edge, api, db] = await tiersOf('edge=3', 'api=3', 'db=3', '--failure', '0.5')
    assert.ok(Math.abs(db!.callsPerOperation - (1 - 0.5 ** 27) / 0.5) < 1e-9)
    assert.ok(Math.abs(api!.callsPerOperation - (1 + 0.5 ** 3 + 0.5 ** 6) * (1 + 0.5 ** 9 + 0.5 ** 18)) < 1e-9)
    assert.ok(Math.abs(edge!.callsPerOperation - (1 + 0.5 ** 9 + 0.5 ** 18)) < 1e-9)
    const independent = await tiersOf('edge=4', 'api=4', 'db=4', '--failure', '0.5', '--independent')
    assert.equal(independent.at(-1)!.callsPerOperation.toFixed(3), '6.592')
  })

  it('agrees with the simulation, which knows nothing of the closed form', async () => {
    for (const { callsPerOperation, simulated } of await tiersOf('edge=3', 'api=2', 'db=3', '--failure', '0.8'))
      assert.ok(Math.abs(simulated! / callsPerOperation - 1) < 0.02, `${simulated} for ${callsPerOperation}`)
  })

  it('is a table with a verdict on a terminal, and tabs in a pipe with the verdict on stderr', async () => {
    const words = ['lab', 'tiers', 'edge=3', 'db=3']
    const shown = await atTerminal(words)
    assert.match(shown.stdout, /^tiers: calls that arrive for one operation\n/)
    assert.match(shown.stdout, /\nTIER {2}MAXATTEMPTS/)
    assert.match(shown.stdout, /One operation becomes 2 calls made by db/)
    const piped = await secondwind(words)
    assert.equal(piped.stdout.split('\n')[0], 'tier\tmaxAttempts\tcallsPerOperation\tsimulated\tworstCase')
    assert.match(piped.stderr, /^One operation becomes .*\n\ntry {2}secondwind lab tiers edge=3 db=1/)
  })

  it('leads on with the same options', async () => {
    const { stderr } = await atTerminal(['lab', 'tiers', 'the edge=3', 'db=3', '--independent', '--failure=0.25'])
    assert.match(stderr, /try {2}secondwind lab tiers 'the edge=3' db=1 --failure 0\.25 --independent\n/)
  })

  it('names every word that is no tier, and every option that is wrong, at once', async () => {
    const { stdout, stderr, exitCode } = await secondwind(['lab', 'tiers', 'edge', 'api=0', '--failure', '2'])
    assert.deepEqual([stdout, exitCode], ['', 2])
    assert.match(stderr, /^error wrong-option {2}3 values cannot be read\n\n {2}edge .*\n {2}api=0 .*\n {2}--failure /)
  })
})
