import type { PolicyDocument, Scenario } from '../scenario/scenario.ts'
import { callsPerSecond, measuredMs, say, type Claim, type Runs, type WorkedCase } from './worked-case.ts'

const MINUTE = 60_000
const FOUR: PolicyDocument = {
  name: 'four tries',
  // There was no deadline: ten minutes are longer than anybody waited.
  retry: {
    maxAttempts: 4,
    initialDelayMs: 100,
    maxDelayMs: 5_000,
    attemptTimeoutMs: 1_000,
    totalBudgetMs: 10 * MINUTE,
  },
  budget: false,
}
const ONCE: PolicyDocument = { ...FOUR, name: 'one try', retry: { ...FOUR.retry, maxAttempts: 1 } }
const BUDGETED: PolicyDocument = { name: 'budget', retry: FOUR.retry }
const HURRIED: PolicyDocument = { ...FOUR, name: 'deadline', retry: { ...FOUR.retry, totalBudgetMs: 2_000 } }

const CAPACITY = 1_000

interface Variant {
  readonly load: number
  readonly edge?: PolicyDocument
  readonly middle?: PolicyDocument
  readonly isSwitchedOff?: boolean
  readonly passesDeadline?: boolean
}

function incident(scale: number, variant: Variant): Scenario {
  const { load, edge = FOUR, middle = FOUR, isSwitchedOff = false, passesDeadline = false } = variant
  const servers = Math.max(1, Math.round(10 * scale))
  return {
    name: 'composite incident',
    durationMs: 12 * MINUTE,
    drainMs: 0,
    clients: [
      { name: 'A', calls: 'B', pipeline: 'edge', arrivals: { kind: 'poisson', perSecond: load * CAPACITY * scale } },
    ],
    pipelines: { edge, middle },
    dependencies: {
      B: { serviceMs: 5, downstream: [{ calls: 'C', pipeline: 'middle', passesDeadline }] },
      C: {
        servers,
        serviceMs: { kind: 'exponential', meanMs: (servers * 1_000) / (CAPACITY * scale) },
        // Ten seconds of work: nobody's buffer is endless.
        queue: { dropsExpired: passesDeadline, maxLength: Math.round(10 * CAPACITY * scale) },
        troubles: [{ fromMs: 30_000, untilMs: MINUTE, errorRate: 0.5 }],
      },
    },
    ...(isSwitchedOff && { killOrders: [{ atMs: 5 * MINUTE + 30_000, level: 'retries-off' as const }] }),
  }
}

const LOADS = [0.1, 0.2, 0.4, 0.6, 0.8]

export const compositeIncidentCase: WorkedCase = {
  name: 'composite-incident',
  inputs:
    'A → B → C, four tries at A and at B, FULL, 100 ms, cap 5 s, no deadline, no budget; C fails half for 30 s; load not given: 0.1 to 0.8 of capacity',
  variants: scale => ({
    ...Object.fromEntries(LOADS.map(load => [`load ${load}`, incident(scale, { load })])),
    'retries off at 5 min': incident(scale, { load: 0.6, isSwitchedOff: true }),
    'budget per tier': incident(scale, { load: 0.6, edge: BUDGETED, middle: BUDGETED }),
    'deadline passed on': incident(scale, { load: 0.6, edge: HURRIED, middle: HURRIED, passesDeadline: true }),
    'edge only': incident(scale, { load: 0.6, middle: ONCE }),
  }),
  claims({ of, scale }: Runs): readonly Claim[] {
    const perRequest = (variant: string, load: number, fromMinute: number, toMinute: number): number =>
      callsPerSecond(of(variant), 'C', fromMinute * MINUTE, toMinute * MINUTE) / (load * CAPACITY * scale)
    const stays = LOADS.filter(load => of(`load ${load}`).recovery.isMetastable)
    const [early, late] = [perRequest('load 0.6', 0.6, 0.5, 1), perRequest('load 0.6', 0.6, 4, 5)]
    const ending = (variant: string): string => {
      const { recoveredAfterMs } = of(variant).recovery
      return recoveredAfterMs === undefined ? 'does not recover' : `recovers after ${say(recoveredAfterMs, 'ms')}`
    }
    const good = of('retries off at 5 min').clients['A']!.perStep.good.slice(10 * 60, 12 * 60)
    const goodShare = good.reduce((sum, count) => sum + count, 0) / (120 * 0.6 * CAPACITY * scale)
    return [
      {
        what: 'first minute: calls at C for each request',
        theirs: '4',
        ours: say(early),
        holds: early > 3 && early < 5,
        measured: { unit: 'times', theirs: 4, ours: early, least: 3, most: 5 },
        note: 'four are the tries of one tier: half of the calls failing is enough to fill the queue at C beyond the time-out, then nearly all fail, and A repeats what B has given up within the same minute',
      },
      {
        what: 'then',
        theirs: '16',
        ours: say(late),
        holds: late > 12,
        measured: { unit: 'times', theirs: 16, ours: late, least: 12 },
      },
      {
        what: 'it stays when the trouble is over',
        theirs: 'yes',
        ours: stays.length === 0 ? 'at no load' : `from ${Math.min(...stays)} of capacity on`,
        holds: stays.includes(0.6),
        measured: { unit: 'share', ...(stays.length > 0 && { ours: Math.min(...stays) }), most: 0.6 },
        note: 'below that, no queue as long as the time-out builds up within the 30 s',
      },
      {
        what: 'retries switched off at 5 min: goodput at 10 min',
        theirs: 'normal',
        ours: say(goodShare, 'share'),
        holds: goodShare > 0.95,
        measured: { unit: 'share', ours: goodShare, least: 0.95 },
      },
      ...['budget per tier', 'deadline passed on', 'edge only'].map(variant => ({
        what: variant,
        theirs: 'not told',
        ours: ending(variant),
        measured: measuredMs(of(variant).recovery.recoveredAfterMs),
      })),
    ]
  },
}
