import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { lossyOutput } from './lossy-output.ts'

/** A disk that can be filled and emptied, and what is told about it. */
function setting() {
  const disk = { isFull: false }
  const [written, told]: [string[], string[]] = [[], []]
  const { write, lostLines } = lossyOutput({
    writeOrLose: (data, onEnd) => {
      if (disk.isFull) return onEnd(new Error('ENOSPC: no space left on device'))
      written.push(data)
      onEnd()
    },
    tell: text => void told.push(text),
  })
  return { disk, written, told, write, lostLines }
}

describe('an output that may be lost', () => {
  it('says once that it is, goes on as soon as it can, and says how much is missing', () => {
    const { disk, written, told, write, lostLines } = setting()
    write('1\n')
    for (let round = 1; round <= 2; round++) {
      disk.isFull = true
      for (let line = 0; line < 3; line++) write('lost\n')
      disk.isFull = false
      write('2\n')
      write('3\n')
      assert.equal(lostLines(), 3 * round)
      assert.equal(told.length, 2 * round)
      assert.match(told.at(-2)!, /^warning log-lost {2}stdout cannot be written \(ENOSPC/)
      assert.equal(told.at(-1), 'the log goes on; 3 of its lines were lost\n')
    }
    assert.deepEqual(written.slice(0, 3), ['1\n', '\n2\n', '3\n'], 'in a line of its own, whatever stands before it')
  })
})
