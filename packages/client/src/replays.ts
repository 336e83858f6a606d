import { GIVE_UP_REASONS } from '@secondwind/resilience'
import { check } from '@secondwind/resilience/rules'
import { onVersion, type Call, type Caller, type ChangeCall } from './caller.ts'
import { DESTINATION, INSTANT, POLICY_ID, refuse, refuseUnless, TASK_ID, UUID } from './check/fields.ts'
import { listing, type Listing } from './listing.ts'
import type { Page } from './wire/page.ts'
import { REPLAY_STATUSES, type Replay, type ReplayFilter, type ReplayInput, type ReplayStatus } from './wire/replay.ts'

/** `/replays`: dead letters brought back, many at a time. */
export interface Replays {
  /** Counts what it would bring back; nothing is sent. */
  plan(input: ReplayInput, call?: Call): Promise<Replay>
  get(replayId: string, call?: Call): Promise<Replay>
  /** The newest first. */
  list(filter?: { readonly status?: ReplayStatus }, call?: Call): Listing<Replay>
  /** Runs a plan as it was read. */
  run(replayId: string, why?: Why, call?: ChangeCall): Promise<Replay>
  /** Moves nothing more for now. */
  pause(replayId: string, why?: Why, call?: ChangeCall): Promise<Replay>
  /** Goes on, perhaps at another rate; also changes the rate of one that is under way. */
  resume(replayId: string, how?: Why & { readonly ratePerSecond?: number }, call?: ChangeCall): Promise<Replay>
  /** Ends it; what was not moved stays dead. */
  cancel(replayId: string, why?: Why, call?: ChangeCall): Promise<Replay>
}

interface Why {
  /** For whoever reads the audit. */
  readonly reason?: string
}

const PATH = '/replays'

export function replaysOf(caller: Caller): Replays {
  const act = async (
    verb: string,
    replayId: string,
    body: object,
    { signal, ifVersion }: ChangeCall = {},
  ): Promise<Replay> => {
    const fields = { reason: REASON, ...(verb === 'resume' && { ratePerSecond: RATE }) }
    refuse(`the replay cannot ${verb}`, check.checkFields(body, fields))
    return caller.ask({
      method: 'POST',
      mark: 'replayId',
      path: `${pathOf(replayId)}/${verb}`,
      body,
      ...onVersion(ifVersion),
      signal,
    })
  }
  return {
    async plan(input, { signal } = {}) {
      refuse('the replay cannot be planned', problemsOfPlan(input))
      // Planned twice is nothing sent twice, and the plan that nobody runs ends by itself.
      return caller.ask({ method: 'POST', mark: 'replayId', path: PATH, body: input, idempotent: true, signal })
    },
    get: async (replayId, { signal } = {}) =>
      caller.ask({ method: 'GET', mark: 'replayId', path: pathOf(replayId), signal }),
    list(filter = {}, { signal } = {}) {
      refuse('replays cannot be listed', check.checkFields(filter, { status: check.oneOf(...REPLAY_STATUSES) }))
      const read = (page: object): Promise<Page<Replay>> =>
        caller.ask({ method: 'GET', mark: 'items', path: PATH, query: { ...filter, ...page }, signal })
      return listing(read)
    },
    run: (replayId, why = {}, call) => act('run', replayId, why, call),
    pause: (replayId, why = {}, call) => act('pause', replayId, why, call),
    resume: (replayId, how = {}, call) => act('resume', replayId, how, call),
    cancel: (replayId, why = {}, call) => act('cancel', replayId, why, call),
  }
}

function problemsOfPlan(input: ReplayInput): ReturnType<typeof check.checkFields> {
  const problems = check.checkFields(input, INPUT_FIELDS)
  if (input?.ratePerSecond === undefined) problems.push({ at: 'ratePerSecond', is: undefined, say: 'must be given' })
  if (!check.isRecord(input?.filter))
    return [...problems, { at: 'filter', is: input?.filter, say: 'must be an object' }]
  return [...problems, ...check.checkFields(input.filter, FILTER_FIELDS, {}, 'filter.')]
}

function pathOf(replayId: string): string {
  refuseUnless(UUID, 'replayId', replayId, 'there is no such replay')
  return `${PATH}/${replayId}`
}

const REASON = check.text(500)
const RATE = check.numberBetween(0.01, 1_000)
const ANY_FILTER: check.FieldCheck = () => undefined // its own fields are checked one by one

const INPUT_FIELDS: { readonly [field in keyof ReplayInput]-?: check.FieldCheck } = {
  filter: ANY_FILTER,
  ratePerSecond: RATE,
  canary: check.wholeNumber(0, 100),
  stopOnFailureRate: check.numberBetween(0, 1),
  overLast: check.wholeNumber(1, 200),
  include: value =>
    Array.isArray(value) && value.every(word => word === 'permanent' || word === 'not-idempotent')
      ? undefined
      : 'a list of permanent and not-idempotent',
  reason: REASON,
}

const FILTER_FIELDS: { readonly [field in keyof ReplayFilter]-?: check.FieldCheck } = {
  destination: DESTINATION,
  causeId: check.text(200),
  reason: check.oneOf(...GIVE_UP_REASONS),
  policyId: POLICY_ID,
  errorCode: check.text(100),
  createdFrom: INSTANT,
  createdTo: INSTANT,
  endedFrom: INSTANT,
  endedTo: INSTANT,
  taskIds: check.listOf(TASK_ID, 200),
}
