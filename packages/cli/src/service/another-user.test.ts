import assert from 'node:assert/strict'
import { chmodSync } from 'node:fs'
import { describe, it } from 'vitest'
import { NOBODY, secondwind, whyAlone, type Ended } from '../command-line.test-kit.ts'
import { temporaryDirectory } from './serve.test-kit.ts'

const WHY_ALONE = whyAlone()

describe.skipIf(WHY_ALONE !== '')(`for a user who may not look into the data directory${WHY_ALONE}`, () => {
  const asNobody = (...words: readonly string[]): Promise<Ended> => secondwind(words, { uid: NOBODY })

  it('serve says that the store cannot be opened', async () => {
    const data = temporaryDirectory()
    chmodSync(data, 0o700)
    const { stderr, exitCode } = await asNobody('serve', '--data', data, '--port', '0')
    assert.match(stderr, /^error store-read-only {2}the store in \S+ cannot be opened\n/)
    assert.equal(exitCode, 1)
  })
})
