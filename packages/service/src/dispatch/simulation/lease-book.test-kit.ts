/**
 * Compares what an instance counts for its lanes with the leases in the store. While no call is under way, for each lane
 * that is served
 *
 *   asked + starting + running + unsent = the leases that the instance has claimed for it and that have not ended
 *
 * While calls are under way:
 *
 *  1. `asked` covers the leases of a claim that is not yet answered; without such a claim it is 0.
 *  2. A lease of an answered claim counts as one of the other three until its end is sent to the store.
 *  3. From then until the answer comes it may count or not, for it may have ended or not.
 *
 * At any time the lane has taken a slot for each of the first three.
 */
import type { ClaimAnswer, LeaseHead, Store } from '../../stores/store.ts'
import { laneKey } from '../../task/lane.ts'
import type { ServedLane } from '../served-lane.ts'
import { CALL_TIMEOUT_MS } from '../store-calls.ts'
import type { SimulatedProcess } from './instance.test-kit.ts'

interface SeenClaim {
  readonly process: SimulatedProcess
  /** The token under which the partition was served. */
  readonly steward: string
  isAnswered: boolean
}

/** A lease that its instance knows of. */
interface KnownLease {
  readonly claim: SeenClaim
  readonly lane: string
  /** A process has asked the store to end it. */
  isEnding: boolean
}

type LeaseName = Pick<LeaseHead, 'taskId' | 'token'>

/** More than there are slots. */
const MOST_LEASES = 1_000

export class LeaseBook {
  readonly #store: Store
  /** By token. */
  readonly #claims = new Map<string, SeenClaim>()
  readonly #known = new Map<string, KnownLease>()

  constructor(store: Store) {
    this.#store = store
  }

  /** The store as this process sees it. The book writes down its claims and the ends of its leases. */
  watch(process: SimulatedProcess, store: Store): Store {
    return {
      ...store,
      claim: asks => {
        const claims = asks.map(({ token, steward }) => {
          const claim: SeenClaim = { process, steward, isAnswered: false }
          this.#claims.set(token, claim)
          return claim
        })
        return hear(store.claim(asks), ({ answers }) =>
          claims.forEach((claim, at) => this.#claimed(claim, answers[at]!)),
        )
      },
      settle: ends => this.#end(process, ends, store.settle(ends)),
    }
  }

  #claimed(claim: SeenClaim, answer: ClaimAnswer): void {
    claim.isAnswered = true
    if (answer.kind === 'refused') return
    for (const task of answer.tasks) {
      const lease = { taskId: task.taskId, token: task.lease.token }
      this.#known.set(nameOf(lease), { claim, lane: laneKey(task), isEnding: false })
    }
  }

  #end<Answered>(
    process: SimulatedProcess,
    leases: readonly LeaseName[],
    answer: Promise<Answered>,
  ): Promise<Answered> {
    const sentAt = process.monotonic()
    const names = leases.map(nameOf)
    for (const name of names) {
      const lease = this.#known.get(name)
      if (lease !== undefined) lease.isEnding = true
    }
    return hear(answer, () => {
      // The instance did not wait for so late an answer.
      if (process.monotonic() - sentAt >= CALL_TIMEOUT_MS) return
      for (const name of names) if (this.#known.get(name)?.claim.process === process) this.#known.delete(name)
    })
  }

  /** Says which counts of these processes' lanes are wrong. Ask only when nothing can go on without the clock. */
  async problems(processes: readonly SimulatedProcess[]): Promise<readonly string[]> {
    const served = processes.flatMap(process => process.dispatcher.lanes.map(lane => ({ lane, process })))
    if (served.length === 0) return []
    const partitions = [...new Set(served.map(({ lane }) => lane.partition.number))]
    const { items } = await this.#store.leases({ partitions, limit: MOST_LEASES })
    return served.flatMap(({ lane, process }) => this.#problemOf(lane, process, items) ?? [])
  }

  #problemOf(lane: ServedLane, process: SimulatedProcess, held: readonly LeaseHead[]): string | undefined {
    const { key, partition, share, asked, starting, running, unsent } = lane
    const isOurs = (claim: SeenClaim | undefined): boolean =>
      claim?.process === process && claim.steward === partition.token
    const leases = held.filter(lease => lease.lane === key && isOurs(this.#claims.get(lease.token)))
    const isClaiming = [...this.#claims.values()].some(claim => isOurs(claim) && !claim.isAnswered)
    const inClaim = leases.filter(({ token }) => this.#claims.get(token)?.isAnswered === false).length
    const sure = leases.filter(lease => this.#known.get(nameOf(lease))?.isEnding === false).length
    const known = [...this.#known.values()].filter(lease => lease.lane === key && isOurs(lease.claim))
    const inDoubt = known.filter(({ isEnding }) => isEnding).length
    const begun = starting + running + unsent
    const isRight =
      Math.min(asked, starting, running, unsent) >= 0 &&
      share.taken === asked + starting + running &&
      (isClaiming ? inClaim <= asked : asked === 0) &&
      sure <= begun &&
      begun <= sure + inDoubt
    if (isRight) return undefined
    const counts = `${share.taken} slots taken, asked ${asked}, starting ${starting}, running ${running}, unsent ${unsent}`
    return `${key}: ${counts}; the store has ${inClaim} in a claim, ${sure} sure and ${inDoubt} in doubt`
  }
}

function nameOf({ taskId, token }: LeaseName): string {
  return `${taskId} ${token}`
}

/** The book hears the answer before the instance does. */
function hear<Answered>(answer: Promise<Answered>, listen: (answer: Answered) => void): Promise<Answered> {
  void answer.then(listen, () => {})
  return answer
}
