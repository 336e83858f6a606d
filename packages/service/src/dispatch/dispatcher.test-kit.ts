import { laneKey } from '../task/lane.ts'
import type { AttemptEnded, Held, TaskEnded } from '../telemetry/events.ts'
import type { Behaviour } from './simulation/scripted-target.test-kit.ts'
import { World, type WorldOptions } from './simulation/world.test-kit.ts'

const LANE = { tenant: 'acme', destination: 'https://api.example' }
export const KEY: string = laneKey(LANE)

export const GOOD: Behaviour = { kind: 'answers', status: 200, ms: 50 }
export const DOWN: Behaviour = { kind: 'answers', status: 503, ms: 50 }
export const HUNG: Behaviour = { kind: 'hangs', ms: 1e9 }

/** One instance that has settled in, and what it told. */
export async function setting(options: WorldOptions = {}) {
  const attempts: AttemptEnded[] = []
  const ended: TaskEnded[] = []
  const held: Held[] = []
  const warnings: string[] = []
  const world = new World({
    ...options,
    policy: { jitterType: 'NONE', initialDelayMs: 1_000, totalBudgetMs: 600_000, ...options.policy },
    events: {
      attemptEnded: event => attempts.push(event),
      taskEnded: event => ended.push(event),
      held: event => held.push(event),
      warning: (code, text) => warnings.push(`${code}: ${text}`),
    },
  })
  const instance = world.start()
  await world.clock.advance(20_000)
  const sentAt = (): number[] => world.destinations.seen.map(({ at }) => at - 20_000)
  return { world, instance, attempts, ended, held, warnings, sentAt }
}
