import { burstBacklog, retryLoad, type Burst } from '../closed-forms/retry-load.ts'
import { runScenario } from '../run-scenario.ts'
import { immediately } from './published-policies.ts'
import { near, type Finding, type Reproduction } from './reproduction.ts'

const OPERATIONS_PER_SECOND = 1_000
const MAX_ATTEMPTS = 3
const SECONDS = 100

/** What a dependency of which a share fails is called, and how much of it are retries. */
function loadAt(failureRate: number): Finding[] {
  const { dependencies } = runScenario({
    name: 'retry load',
    durationMs: SECONDS * 1_000,
    clients: [
      {
        name: 'clients',
        calls: 'server',
        pipeline: 'tries',
        arrivals: { kind: 'constant', perSecond: OPERATIONS_PER_SECOND },
      },
    ],
    pipelines: { tries: immediately('tries', MAX_ATTEMPTS) },
    dependencies: { server: { serviceMs: 1, errorRate: failureRate } },
  })
  const { calls, retries } = dependencies['server']!
  const theirs = retryLoad({ operationsPerSecond: OPERATIONS_PER_SECOND, maxAttempts: MAX_ATTEMPTS, failureRate })
  const failing = `${failureRate * 100} % failing`
  return [
    near(`${failing}: calls a second`, {
      theirs: theirs.callsPerSecond,
      ours: calls / SECONDS,
      within: 0.01,
      unit: 'per-second',
    }),
    near(`${failing}: retries a second`, {
      theirs: theirs.retriesPerSecond,
      ours: retries / SECONDS,
      within: 0.03,
      unit: 'per-second',
    }),
  ]
}

const BURST: Burst = { arrivalsPerSecond: 800, capacityPerSecond: 1_000, extraPerSecond: 2_000, burstMs: 1_000 }
const BEGINS_AT_MS = 2_000
const STEP_MS = 100

/** What a burst leaves behind, and how long what is left over of the capacity takes to eat it. */
function backlog(): Finding[] {
  const { arrivalsPerSecond, capacityPerSecond, extraPerSecond, burstMs } = BURST
  const endsAtMs = BEGINS_AT_MS + burstMs
  const { dependencies } = runScenario({
    name: 'burst',
    durationMs: 20_000,
    stepMs: STEP_MS,
    clients: [
      {
        name: 'clients',
        calls: 'server',
        arrivals: {
          kind: 'spike',
          perSecond: arrivalsPerSecond,
          peakPerSecond: arrivalsPerSecond + extraPerSecond,
          fromMs: BEGINS_AT_MS,
          untilMs: endsAtMs,
          even: true,
        },
      },
    ],
    dependencies: { server: { servers: 1, serviceMs: 1_000 / capacityPerSecond } },
  })
  const { longestQueue, perStep } = dependencies['server']!
  const drainedAtMs = STEP_MS * perStep.queue.findIndex((length, step) => step * STEP_MS >= endsAtMs && length <= 1)
  const theirs = burstBacklog(BURST)
  return [
    near('calls that wait when the burst is over', {
      theirs: theirs.calls,
      ours: longestQueue,
      within: 0.01,
      unit: 'count',
    }),
    near('ms until they are served', {
      theirs: theirs.drainMs!,
      ours: drainedAtMs - endsAtMs,
      within: 0.02,
      unit: 'ms',
    }),
  ]
}

export const retryLoads: Reproduction = {
  name: 'retry-load',
  source: 'the load of the geometric sum, λ (1 − fⁿ) / (1 − f); backlogs by what is left over of the capacity',
  inputs:
    '1,000 operations a second, three tries at once, a tenth to all of the calls failing; and 2,000/s more for a second, on 800/s of 1,000/s',
  run: () => [...[0.1, 0.5, 0.9, 1].flatMap(loadAt), ...backlog()],
}
