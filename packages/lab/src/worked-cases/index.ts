import { capacityCase, envelopeCase, firstHerdCase, queuedHerdCase, recoveryCase } from './capacity.ts'
import { compositeIncidentCase } from './composite-incident.ts'
import { conclusionsCase } from './conclusions.ts'
import { paymentsCase } from './payments.ts'
import { proseCase } from './prose.ts'
import { fanOutCase, jitterFiguresCase, tiersCase } from './shapes.ts'
import { shopCase } from './shop.ts'
import type { WorkedCase } from './worked-case.ts'

/** Incidents as people tell them, to be held against what comes out. */
export const WORKED_CASES: readonly WorkedCase[] = [
  shopCase,
  compositeIncidentCase,
  paymentsCase,
  recoveryCase,
  capacityCase,
  envelopeCase,
  queuedHerdCase,
  jitterFiguresCase,
  conclusionsCase,
  proseCase,
  fanOutCase,
  firstHerdCase,
  tiersCase,
]
