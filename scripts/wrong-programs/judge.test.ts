import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { judge } from './judge.ts'

const program = { path: 'wrong/a.ts', text: `// expect: Did you mean 'maxAttempts'?\nretry({ maxAtempts: 3 })\n` }

describe('a wrong program', () => {
  it('is fine when the compiler refuses it in the expected words', () => {
    const output = `wrong/a.ts(2,9): error TS2561: Object literal may only specify known properties. Did you mean 'maxAttempts'?\n`
    assert.deepEqual(judge([program], output), [])
  })

  it('may be refused in words that are spread over several lines', () => {
    const output = `wrong/a.ts(2,9): error TS2345: No.\n  Did you\n    mean 'maxAttempts'?\n`
    assert.deepEqual(judge([program], output), [])
  })

  it('must not compile', () => {
    assert.match(judge([program], '').join(), /wrong\/a\.ts:1 {2}compiles, but must not/)
  })

  it('must be refused for the reason it names', () => {
    const output = `wrong/a.ts(2,1): error TS2304: Cannot find name 'retry'.\n`
    assert.match(judge([program], output).join(), /expected: Did you mean[^]*Cannot find name/)
  })

  it('is not excused by what the compiler says about another', () => {
    const other = { path: 'wrong/b.ts', text: '// expect: never\n' }
    const output = `wrong/b.ts(1,1): error TS1: Did you mean 'maxAttempts'? never\n`
    assert.match(judge([program, other], output).join(), /^wrong\/a\.ts:1 {2}compiles[^,]*, but must not[^,]*$/)
  })

  it('must say what it expects', () => {
    const silent = { path: 'wrong/a.ts', text: 'retry()\n' }
    assert.match(judge([silent], `wrong/a.ts(1,1): error TS1: x\n`).join(), /must begin with/)
  })

  it('must be wrong by itself: an error elsewhere is a problem of its own', () => {
    const output = `src/retry.ts(1,1): error TS1: Did you mean 'maxAttempts'?\nerror TS5083: Cannot read file.\n`
    const problems = judge([program], output).join()
    assert.match(problems, /src\/retry\.ts {2}must compile/)
    assert.match(problems, /Cannot read file/)
  })
})
