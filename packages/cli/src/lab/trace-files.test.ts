import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import { atTerminal } from '../command-line.test-kit.ts'

const INSTANTS = [0, 100, 250.5, 250.5, 3_000]

function traced(...arrivals: readonly object[]): string {
  return JSON.stringify({
    name: 'traced',
    durationMs: 5_000,
    clients: arrivals.map((fields, place) => ({
      name: `clients ${place}`,
      calls: 'api',
      arrivals: { kind: 'trace', ...fields },
    })),
    dependencies: { api: { servers: 1, serviceMs: 50 } },
  })
}

/** These files, in a folder of their own. */
function folderOf(files: { readonly [name: string]: string }): string {
  const folder = mkdtempSync(join(tmpdir(), 'secondwind-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'recorded'))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  return folder
}

describe('a trace in a file', () => {
  it('gives the same run as its list, as a JSON array and line by line, from the folder of the scenario', async () => {
    const folder = folderOf({
      'recorded/trace.json': `\uFEFF${JSON.stringify(INSTANTS, undefined, 1)}\n`,
      'recorded/trace.txt': `${INSTANTS.join('\r\n')}\n\n`,
      'array.json': traced({ atFile: 'recorded/trace.json' }),
      'lines.json': traced({ atFile: './recorded/trace.txt' }),
    })
    const run = async (scenario: string): Promise<string> =>
      (await atTerminal(['lab', 'run', scenario, '--json'])).stdout.replaceAll(scenario, '')
    const inline = traced({ atMs: INSTANTS })
    const { scenario, result } = JSON.parse(await run(inline)) as { scenario: unknown; result: unknown }
    for (const file of ['array.json', 'lines.json']) {
      const found = JSON.parse(await run(join(folder, file))) as { scenario: unknown; result: unknown }
      assert.deepEqual([found.scenario, found.result], [scenario, result], file)
    }
  })

  it('is refused with all that is wrong with it and with the scenario', async () => {
    const folder = folderOf({
      'words.txt': '0\n12\nnoon\n',
      'open.json': '[1, 2',
      'empty.txt': '\n',
      'huge.txt': '',
      'late.txt': '5\n4\n',
    })
    truncateSync(join(folder, 'huge.txt'), 200_000_001)
    const named = ['words.txt', 'open.json', 'empty.txt', 'huge.txt', 'nowhere.txt', 'recorded', 'late.txt']
    const scenario = JSON.parse(traced(...named.map(atFile => ({ atFile })), { atFile: 'words.txt', atMs: [1] })) as {
      clients: { calls: string }[]
    }
    scenario.clients[0]!.calls = 'apu'
    writeFileSync(join(folder, 'world.json'), JSON.stringify(scenario))
    const { stdout, stderr, exitCode } = await atTerminal(['lab', 'run', join(folder, 'world.json')])
    assert.deepEqual([stdout, exitCode], ['', 2])
    assert.match(stderr, /^error invalid-scenario {2}the scenario \S+ has 9 problems\n/)
    for (const said of [
      /clients\.0\.arrivals\.atFile must hold milliseconds in each line: line 3 is "noon" \(is "words\.txt"\)/,
      /clients\.1\.arrivals\.atFile must hold a JSON array, or milliseconds in each line: /,
      /clients\.2\.arrivals\.atFile must hold an instant at least/,
      /clients\.3\.arrivals\.atFile must be a file of at most 200 MB/,
      /clients\.4\.arrivals\.atFile is no file: there is no \S+nowhere\.txt/,
      /clients\.5\.arrivals\.atFile must be a plain file/,
      /clients\.6\.arrivals\.atMs must be in their order/,
      /clients\.7\.arrivals\.atFile cannot stand beside atMs/,
      /clients\.0\.calls is no dependency of this scenario; did you mean api\?/,
    ])
      assert.match(stderr, said)
  })

  it('is not told of each of its instants what is wrong with all of them', async () => {
    const folder = folderOf({ 'epoch.txt': '1767225600000\n'.repeat(1_000) })
    writeFileSync(join(folder, 'world.json'), traced({ atFile: 'epoch.txt' }))
    const { stderr } = await atTerminal(['lab', 'run', join(folder, 'world.json')])
    assert.match(stderr, /clients\.0\.arrivals\.atMs\.0 must be milliseconds from 0 to \d+, ten years/)
    assert.match(stderr, /clients\.0\.arrivals\.atMs has 990 more like these/)
    assert.ok(stderr.split('\n').length < 40)
  })

  it('is for the command line: a scenario that names one cannot be changed to by --set', async () => {
    const words = ['lab', 'run', traced({ atMs: [1] }), '--set', 'clients.0.arrivals.atFile=trace.json']
    const { stderr } = await atTerminal(words)
    assert.match(stderr, /arrivals\.atFile is an unknown field; did you mean atMs, the list itself/)
  })
})
