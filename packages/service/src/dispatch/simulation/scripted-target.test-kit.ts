import { NOT_ARMED, type Alarm, type Clock, type Random } from '@secondwind/resilience'
import type { VirtualClock } from '@secondwind/resilience/testing'
import type { Delivery, Target, TargetAnswer } from '../../targets/target.ts'
import type { SimulatedProcess } from './instance.test-kit.ts'

/** A request as the destination saw it. */
export interface SeenRequest {
  readonly process: SimulatedProcess
  readonly delivery: Delivery
  readonly destination: string
  readonly idempotencyKey: string
  readonly at: number
  /** Undefined while it is being served. */
  endedAt: number | undefined
  /** It has shown itself at work: a success, or a refusal for good. */
  isAnswered: boolean
  /** The sender broke it off. */
  isCut: boolean
}

/** How a destination behaves at an instant. */
export type Behaviour =
  | { readonly kind: 'answers'; readonly status: number; readonly ms: number; readonly retryAfterS?: number }
  | { readonly kind: 'refuses'; readonly ms: number }
  /** Not the destination's doing: the sender has no descriptor left. */
  | { readonly kind: 'lacks'; readonly ms: number }
  /** So long that nobody waits for it. */
  | { readonly kind: 'hangs'; readonly ms: number }

export interface DestinationsOptions {
  readonly clock: VirtualClock
  readonly behaviourOf: (destination: string, at: number, delivery: Delivery) => Behaviour
  /** Told of every request as it arrives, before it is counted. */
  readonly onRequest?: (request: SeenRequest) => void
}

/** All destinations of a world, and what reached them. */
export class Destinations {
  readonly seen: SeenRequest[] = []
  /** Those being served now. */
  readonly open = new Set<SeenRequest>()
  readonly #options: DestinationsOptions

  constructor(options: DestinationsOptions) {
    this.#options = options
  }

  /** The way out of one process. */
  targetOf(process: SimulatedProcess): Target {
    return {
      close: async () => {},
      send: delivery => {
        let cut = (): void => {}
        const answer = new Promise<TargetAnswer>(resolve => {
          if (process.state === 'dead') return
          const { clock, behaviourOf, onRequest } = this.#options
          const destination = new URL(delivery.request.targetUrl).origin
          const behaviour = behaviourOf(destination, clock.monotonic(), delivery)
          const tell = (answer: TargetAnswer): void => process.deliver(() => resolve(answer))
          const seen: SeenRequest = {
            process,
            delivery,
            destination,
            idempotencyKey: delivery.headers['idempotency-key']!,
            at: clock.monotonic(),
            endedAt: undefined,
            isAnswered: false,
            isCut: false,
          }
          onRequest?.(seen)
          this.seen.push(seen)
          this.open.add(seen)
          const end = (answer: TargetAnswer): void => {
            if (!this.open.delete(seen)) return
            seen.endedAt = clock.monotonic()
            forget(served)
            forget(patience)
            tell(answer)
          }
          // The time-out is the sender's own: a process that stands still does not notice.
          const patience = after(process, delivery.timeoutMs, () =>
            end(failed('attempt-timeout', 'attempt-timeout', false)),
          )
          const served = after(clock, behaviour.ms, () => {
            seen.isAnswered =
              this.open.has(seen) && behaviour.kind === 'answers' && [200, 404].includes(behaviour.status)
            end(answerOf(behaviour))
          })
          const forget = ({ clock: owner, alarm }: Timer): void => owner.disarm(alarm)
          cut = () => {
            seen.isCut = this.open.has(seen)
            end(failed('aborted', 'UND_ERR_ABORTED', false))
          }
        })
        return { answer, cut: () => cut() }
      },
    }
  }
}

interface Timer {
  readonly clock: Clock
  readonly alarm: Alarm
}

function after(clock: Clock, ms: number, ring: () => void): Timer {
  const alarm: Alarm = { dueAt: clock.monotonic() + ms, slot: NOT_ARMED, ring }
  clock.arm(alarm)
  return { clock, alarm }
}

function answerOf(behaviour: Behaviour): TargetAnswer {
  if (behaviour.kind === 'refuses') return failed('connect-refused', 'ECONNREFUSED', true)
  if (behaviour.kind === 'lacks') return { kind: 'not-tried', errorCode: 'resources-out', errorMessage: 'EMFILE' }
  return behaviour.kind === 'hangs' ? answered(200) : answered(behaviour.status, behaviour.retryAfterS)
}

function answered(status: number, retryAfterS?: number): TargetAnswer {
  const headers = retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }
  const response = { headers: {}, body: '', bodyEncoding: 'utf8', truncated: false } as const
  return { kind: 'answered', status, headers, response }
}

function failed(errorCode: string, code: string, unsent: boolean): TargetAnswer {
  return {
    kind: 'failed',
    error: Object.assign(new Error(errorCode), { code }),
    errorCode,
    errorMessage: errorCode,
    unsent,
  }
}

/** One of them, each as likely. */
export function pick<Item>(items: readonly Item[], random: Random): Item {
  return items[Math.floor(random() * items.length)]!
}
