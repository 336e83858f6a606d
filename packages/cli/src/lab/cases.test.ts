import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { atTerminal, secondwind } from '../command-line.test-kit.ts'

const QUEUED_HERD = 'what is served during the spike is no queue: 18,000 and 0.9 s are exact'

describe('lab cases', () => {
  it('shows what people claim beside what comes out, and why they differ', async () => {
    const { stdout, exitCode } = await atTerminal(['lab', 'cases', 'queued-herd', '--scale', '0.01'])
    // That a claim does not hold is a result.
    assert.equal(exitCode, 0)
    assert.match(stdout, /CLAIM +THEIRS +OURS +HOLDS\n/)
    assert.match(stdout, /longest queue +20,000 +18,000 +NO/)
    assert.match(stdout, /\n {2}note {2}/)
  })

  it('counts apart what cannot be judged', async () => {
    const { stdout } = await atTerminal(['lab', 'cases', 'payments'], { columns: 120 })
    assert.match(stdout, /not simulated +—\n/)
    assert.match(stdout, /\n7 of 7 claims hold; none does not; 1 cannot be judged\.\n/)
  })

  it('is numbers for programs, each with its unit; what is no number is empty', async () => {
    const { stdout } = await atTerminal(['lab', 'cases', 'queued-herd', 'first-herd', '--scale', '0.01', '--csv'])
    assert.deepEqual(stdout.split('\n').slice(0, -1), [
      'case,claim,unit,theirs,ours,least,most,holds,note',
      `queued-herd,longest queue,count,20000,18000,19000,21000,false,"${QUEUED_HERD}"`,
      `queued-herd,drained after,ms,1000,900,950,1050,false,"${QUEUED_HERD}"`,
      'first-herd,calls in the second of the blip,per-second,700,827,490,910,true,those of the usual load who time out meanwhile try again as well',
      'first-herd,it never recovers,ms,,,,,true,',
    ])
  })

  it('carries its notes into a file, where its last line says that they say why', async () => {
    const { stdout, stderr } = await secondwind(['lab', 'cases', 'queued-herd', '--scale', '0.01'])
    assert.match(stderr, /2 do not, and the notes say why/)
    const [heading, ...rows] = stdout.trimEnd().split('\n')
    assert.match(heading!, /\tholds\tnote$/)
    assert.deepEqual(
      rows.map(row => row.split('\t').at(-1)),
      [QUEUED_HERD, QUEUED_HERD],
    )
  })

  it('lists the scenarios that lab run takes', async () => {
    const { stdout } = await atTerminal(['lab', 'cases', '--list'])
    assert.match(stdout, /\nqueued-herd\/herd\n/)
    const run = await atTerminal(['lab', 'run', 'queued-herd/herd', '--scale', '0.01', '--json'])
    assert.equal(run.exitCode, 0)
  })

  it('names the variants of a case when none, or another, is asked for', async () => {
    const { stderr, exitCode } = await atTerminal(['lab', 'run', 'shop'])
    assert.equal(exitCode, 2)
    assert.match(stderr, /Its variants are: no retries, everywhere, /)
  })

  it('takes a scale only for cases', async () => {
    const { stderr, exitCode } = await atTerminal(['lab', 'run', 'outage', '--scale', '0.5'])
    assert.equal(exitCode, 2)
    assert.match(stderr, /--scale belongs to worked cases/)
  })
})
