import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { PAGES, readPage } from './pages.ts'
import { aService } from './service.test-kit.ts'

describe('pages that show the format of the data', () => {
  it('show the one that a service says', async () => {
    const { url } = await aService()
    const { format } = (await (await fetch(`${url}/healthz`)).json()) as { format: number }
    const shown = PAGES.flatMap(page => Array.from(readPage(page).matchAll(/"format":(\d+)/g), ([, number]) => number))
    assert.deepEqual(new Set(shown), new Set([String(format)]))
  })
})
