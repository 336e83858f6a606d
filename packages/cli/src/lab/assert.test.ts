import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { atTerminal } from '../command-line.test-kit.ts'

const SMALL = ['--load', '50/s', '--capacity', '80/s']

describe('lab assert', () => {
  it('asks for a recovery only where there is a trouble to get over, and runs nothing otherwise', async () => {
    const words = ['lab', 'assert', 'userFacing', '--max-recovery', '500ms']
    const { stdout, stderr, exitCode } = await atTerminal([...words, '--scenario', 'herd'])
    assert.deepEqual([stdout, exitCode], ['', 2])
    assert.match(stderr, /^error nothing-to-assert {2}--max-recovery says nothing about herd/)
    const outage = await atTerminal([...words, ...SMALL, '--outage', '5001ms'])
    assert.equal(outage.exitCode, 0)
  })

  it('is one row for programs, with a column for each unit, named as where policies are compared', async () => {
    const words = ['lab', 'assert', 'userFacing', ...SMALL, '--max-peak', '1.01x', '--min-served', '5%', '--csv']
    const [heading, row] = (await atTerminal(words)).stdout.split('\n')
    assert.equal(heading, 'policy,holds,peakTimes,maxPeakTimes,servedShare,minServedShare')
    assert.match(row!, /^userFacing,false,2\.\d+,1\.01,0\.\d+,0\.05$/)
    const [ofTwo] = (await atTerminal([...words, '--runs', '2'])).stdout.split('\n')
    assert.match(ofTwo!, /^policy,holds,peakTimes,peakTimesLow,peakTimesHigh,maxPeakTimes,/)
  })

  it('does not hold for the time of those who are served, when nobody is', async () => {
    const always = ['--set', 'dependencies.dependency.errorRate=1', '--outage', '5s']
    const words = ['lab', 'assert', 'userFacing', ...SMALL, ...always, '--max-p99', '1ms']
    const { stdout, exitCode } = await atTerminal(words)
    assert.equal(exitCode, 6)
    assert.match(stdout, /NO +missing: nothing was served, asked for at most 1 ms\n/)
    assert.match(stdout, /\nThe limit does not hold: p99 is missing/)
  })
})
