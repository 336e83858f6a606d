import { collapses } from './collapse.ts'
import { jitter } from './jitter.ts'
import { loads } from './load.ts'
import { metastability } from './metastable.ts'
import { queueing } from './queueing.ts'
import { retryLoads } from './retry-load.ts'
import type { Reproduction } from './reproduction.ts'
import { retryStrategies } from './retry-strategies.ts'
import { tails } from './tails.ts'

/** Published results that come out here too. */
export const REPRODUCTIONS: readonly Reproduction[] = [
  ...jitter,
  ...retryStrategies,
  ...collapses,
  ...queueing,
  ...loads,
  retryLoads,
  ...tails,
  ...metastability,
]
