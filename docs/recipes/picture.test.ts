import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'vitest'
import { BUDGET, playOutage } from '../images/outage.ts'
import { drawOutage } from '../images/picture.ts'

describe('the picture of the first page', () => {
  const [without, within] = [playOutage(false), playOutage(BUDGET)]

  for (const theme of ['light', 'dark'] as const)
    it(`shows what the rules do today, ${theme}: else \`npm run build && node docs/images/draw.ts\``, () => {
      const drawn = readFileSync(new URL(`../images/arrivals-${theme}.svg`, import.meta.url), 'utf8')
      assert.equal(drawn, drawOutage(theme, without, within))
    })
})
