import assert from 'node:assert/strict'
import { DEFAULT_POLICY } from '@secondwind/resilience'
import { onTestFinished } from 'vitest'
import type { Behaviour } from '../dispatch/simulation/scripted-target.test-kit.ts'
import type { SimulatedProcess } from '../dispatch/simulation/instance.test-kit.ts'
import { World } from '../dispatch/simulation/world.test-kit.ts'
import { PolicyBook, putPolicy } from '../policies/policy-book.ts'
import { sit } from '../stores/exam/exam.test-kit.ts'
import { giveUp, TENANT } from '../stores/exam/tasks.test-kit.ts'
import type { ReplayCounts } from '../task/replay/counts.ts'
import { PLAN_DEFAULTS, type ReplayAction, type ReplayDocument, type ReplayPlan } from '../task/replay/replay.ts'
import type { Task } from '../task/task.ts'
import { TASK_ID_BYTES } from '../task/lane.ts'
import { actOnReplay, planReplay } from './operate-replays.ts'
import { ReplayRunner, type ReplayRunnerOptions, type ReplayRunnerStore } from './replay-runner.ts'
import { countsOf, findReplay } from './stored-replay.ts'

const actor = 'local'
const GOOD: Behaviour = { kind: 'answers', status: 200, ms: 20 }

interface WorldOfReplays {
  readonly behaviourOf?: (at: number) => Behaviour
  readonly backlog?: NonNullable<ReplayRunnerOptions['backlog']>
}

/** Dead letters, an instance that serves them, and a runner of replays. */
export async function aWorldOfReplays({ behaviourOf = () => GOOD, backlog }: WorldOfReplays = {}) {
  const world = new World({ behaviourOf: (_, at) => behaviourOf(at), slots: 100, policy: { maxAttempts: 2 } })
  const { store, clock } = world
  const document = { ...DEFAULT_POLICY, maxAttempts: 2, totalBudgetMs: 3_600_000, idempotency: 'KEY' as const }
  await putPolicy(store, { tenant: TENANT, policyId: 'default', document })
  const { ended, get, waiting } = await sit(async () => ({ store }), clock)
  const problems: unknown[] = []

  const startRunner = (instance: SimulatedProcess, itsStore: ReplayRunnerStore = store): ReplayRunner => {
    const stopping = new AbortController()
    onTestFinished(() => stopping.abort())
    const runner = new ReplayRunner({
      store: itsStore,
      policies: new PolicyBook(store, instance),
      clock: instance,
      now: () => instance.dispatcher.now(),
      serves: partition => instance.state === 'running' && instance.dispatcher.serves(partition),
      ...(backlog && { backlog }),
      onProblem: error => problems.push(error),
    })
    void runner.run(stopping.signal)
    return runner
  }

  const replayOf = async (replayId: string): Promise<ReplayDocument> => (await findReplay(store, replayId))!.replay
  return {
    world,
    store,
    statusOf: async (task: Task): Promise<string> => (await get(task)).state.status,
    /** Dead letters that the store has now. */
    stillDead: async (): Promise<number> => (await waiting()).tasks.EXHAUSTED,
    clock,
    problems,
    startRunner,
    kill: async (count: number, changes?: Parameters<typeof ended>[1]): Promise<Task[]> => {
      const dead: Task[] = []
      for (let n = 0; n < count; n++) dead.push(await ended(giveUp, changes))
      return dead
    },
    /** An instance that has settled in, and runs replays. */
    start: async (): Promise<SimulatedProcess> => {
      const instance = world.start()
      await clock.advance(20_000)
      startRunner(instance)
      return instance
    },
    plan: async (changes: Partial<ReplayPlan> = {}, tenant = TENANT): Promise<string> => {
      const filter = { destination: 'https://api.example' }
      const plan = { ...PLAN_DEFAULTS, filter, ratePerSecond: 10, ...changes }
      const { now } = await store.health()
      const random = Uint8Array.from({ length: TASK_ID_BYTES }, () => Math.floor(world.random() * 256))
      const stored = await planReplay(store, { tenant, actor }, { plan, now, random })
      assert.ok(stored !== undefined)
      await clock.advance(3_000)
      for (let n = 0; n < 10 && (await replayOf(stored.replayId)).status === 'PLANNING'; n++) await clock.advance(100)
      return stored.replayId
    },
    act: async (replayId: string, action: ReplayAction, tenant = TENANT): Promise<ReplayDocument> => {
      const { now } = await store.health()
      const answer = await actOnReplay(store, { tenant, actor }, { replayId, action, now: () => now })
      assert.ok(answer.kind === 'done', answer.kind)
      return answer.stored.replay
    },
    replayOf,
    countsOf: (replayId: string): Promise<ReplayCounts> => countsOf(store, replayId),
    /** Lets time pass until it is so. */
    untilStatus: async (
      replayId: string,
      status: ReplayDocument['status'],
      mostMs = 600_000,
    ): Promise<ReplayDocument> => {
      for (let ms = 0; ms < mostMs; ms += 100) {
        const replay = await replayOf(replayId)
        if (replay.status === status) return replay
        await clock.advance(100)
      }
      throw new Error(`it is ${(await replayOf(replayId)).status} and not ${status} after ${mostMs} ms`)
    },
    /** When each request arrived, in ms since the first. */
    sentAt: (): number[] => {
      const instants = world.destinations.seen.map(({ at }) => at)
      return instants.map(at => at - instants[0]!)
    },
  }
}
