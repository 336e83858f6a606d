import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { atTerminal } from '../command-line.test-kit.ts'

describe('lab reproduce', () => {
  it('shows what others have published beside what comes out here', async () => {
    const { stdout, exitCode } = await atTerminal(['lab', 'reproduce', 'tiers'])
    assert.equal(exitCode, 0)
    assert.match(
      stdout,
      /RESULT +THEIRS +OURS +TOLERANCE +VERDICT\n3 tiers, 4 tries, all failing +64 +64 +exact +pass\n/,
    )
    assert.match(stdout, /\nAll 3 published results come out here too\.\n/)
  })

  it('is numbers for programs, each with its unit and with the range that counts as the same', async () => {
    const { stdout } = await atTerminal(['lab', 'reproduce', 'tiers', '--csv'])
    const [heading, ...rows] = stdout.split('\n').slice(0, -1)
    assert.equal(heading, 'name,result,unit,theirs,ours,least,most,isReproduced')
    assert.equal(rows[0], 'tiers,"3 tiers, 4 tries, all failing",times,64,64,64,64,true')
    assert.match(rows[2]!, /^tiers,"3 tiers, 3 tries, half failing",times,2,2\.00\d+,1\.98,2\.02,true$/)
  })
})
