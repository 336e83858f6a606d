/** `node docs/images/draw.ts`, after `npm run build`: draws the picture of the README from the library's own rules. */
import { writeFileSync } from 'node:fs'
import { BUDGET, playOutage } from './outage.ts'
import { drawOutage } from './picture.ts'

const [without, within] = [playOutage(false), playOutage(BUDGET)]
for (const theme of ['light', 'dark'] as const)
  writeFileSync(new URL(`arrivals-${theme}.svg`, import.meta.url), drawOutage(theme, without, within))
