import { NO_COUNTS, type ReplayCounts } from './counts.ts'
import { newReplay, PLAN_DEFAULTS, type ReplayDocument } from './replay.ts'

export const NOW = 1_767_225_600_000

/** A replay of a hundred, ten a second, unless changed. */
export function aReplay(changes: Partial<ReplayDocument> = {}): ReplayDocument {
  const plan = { ...PLAN_DEFAULTS, filter: { destination: 'https://api.example' }, ratePerSecond: 10 }
  return {
    ...newReplay(plan, { createdBy: 'local', now: NOW }),
    destinations: ['https://api.example'],
    status: 'RUNNING',
    selected: 100,
    isProven: true,
    pulses: [{ at: NOW, sent: 0 }],
    ...changes,
  }
}

export function someCounts(counts: Partial<ReplayCounts> = {}): ReplayCounts {
  return { ...NO_COUNTS, ...counts }
}
