import { auditOf } from './access/audit.ts'
import { keysOf, type Keys } from './access/keys.ts'
import { secretsOf, type Secrets } from './access/secrets.ts'
import { tenantsOf, type Tenants } from './access/tenants.ts'
import { bodiesOf, type Bodies } from './bodies.ts'
import { Caller, type Call } from './caller.ts'
import { controlsOf, type Controls } from './controls.ts'
import { deadLettersOf, type DeadLetters } from './dead-letters.ts'
import { destinationsOf, type Destinations } from './destinations.ts'
import { ServiceError } from './errors.ts'
import { listen } from './events/listen.ts'
import { follow, waitFor, type WaitForOptions } from './follow.ts'
import type { Listing } from './listing.ts'
import { checkClientOptions, type ClientOptions } from './options.ts'
import { policiesOf, type Policies } from './policies.ts'
import { replaysOf, type Replays } from './replays.ts'
import { readSeries } from './series.ts'
import { tasksOf, type Tasks } from './tasks.ts'
import type { AuditEntry, AuditFilter } from './wire/access.ts'
import type { EventFilter, ServiceEvent } from './wire/event.ts'
import type { Series, SeriesAsk } from './wire/series.ts'
import type { Alive, Ready } from './wire/state.ts'
import type { RetryTask } from './wire/task.ts'

/** The service, as a program asks it. */
export interface Client {
  readonly tasks: Tasks
  readonly bodies: Bodies
  readonly policies: Policies
  readonly deadLetters: DeadLetters
  readonly replays: Replays
  readonly destinations: Destinations
  readonly controls: Controls
  readonly keys: Keys
  readonly secrets: Secrets
  readonly tenants: Tenants
  /** Who did what, when and why, the newest first. */
  audit(filter?: AuditFilter, call?: Call): Listing<AuditEntry>
  /** The task once it has ended: `SUCCEEDED`, `EXHAUSTED` or `CANCELLED`. */
  waitFor(taskId: string, options?: WaitForOptions): Promise<RetryTask>
  /** The task as it is, then each change that is seen of it, its end as the last. */
  follow(taskId: string, options?: WaitForOptions): AsyncIterable<RetryTask>
  /** What happens, as it happens; goes on after a connection that broke. Ends when the loop is left, or by the signal. */
  events(filter?: EventFilter, call?: Call): AsyncIterable<ServiceEvent>
  /** What was sent, second by second or minute by minute. */
  series(ask?: SeriesAsk, call?: Call): Promise<Series>
  /** Whether the process answers at all: it resolves, or throws. */
  health(call?: Call): Promise<Alive>
  /** Whether it can do its work. Asked once: the answer is about this moment. */
  readiness(call?: Call): Promise<Readiness>
}

export type Readiness =
  | { readonly isReady: true; readonly clockSkewMs: number }
  | { readonly isReady: false; readonly because: string; readonly retryAfterMs: number | undefined }

/** A client of one service; create it once and share it, for it learns how long its calls take. Nothing is sent yet. */
export function createClient(options: ClientOptions): Client {
  checkClientOptions(options)
  const caller = new Caller({ ...options })
  const tasks = tasksOf(caller)
  const waiting = { tasks, clock: caller.clock, random: options.ports?.random, signal: caller.signal }
  return {
    tasks,
    bodies: bodiesOf(caller),
    policies: policiesOf(caller),
    deadLetters: deadLettersOf(caller),
    replays: replaysOf(caller),
    destinations: destinationsOf(caller),
    controls: controlsOf(caller),
    keys: keysOf(caller),
    secrets: secretsOf(caller),
    tenants: tenantsOf(caller),
    audit: (filter = {}, call = {}) => auditOf(caller, filter, call),
    waitFor: (taskId, wait = {}) => waitFor(taskId, wait, waiting),
    follow: (taskId, wait = {}) => follow(taskId, wait, waiting),
    events: (filter = {}, call = {}) => listen(caller, filter, call),
    series: (ask = {}, call = {}) => readSeries(caller, ask, call),
    health: async ({ signal } = {}) =>
      caller.ask({ method: 'GET', mark: 'answeredAt', path: '/healthz', policy: ONCE, signal }),
    readiness: call => readinessOf(caller, call),
  }
}

const ONCE = { maxAttempts: 1 }

async function readinessOf(caller: Caller, { signal }: Call = {}): Promise<Readiness> {
  try {
    const { clockSkewMs } = await caller.ask<Ready>({
      method: 'GET',
      mark: 'clockSkewMs',
      path: '/readyz',
      policy: ONCE,
      signal,
    })
    return { isReady: true, clockSkewMs }
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'not-ready') throw error
    return { isReady: false, because: error.detail, retryAfterMs: error.retryAfterMs }
  }
}
