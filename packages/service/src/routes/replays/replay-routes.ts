import { REPLAY_STATUSES, type Replay, type ReplayInput, type ReplayStatus } from '@secondwind/client'
import type { Problem } from '@secondwind/resilience'
import { check } from '@secondwind/resilience/rules'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { actOnReplay, MOST_REPLAYS, planReplay, type Operator } from '../../replays/operate-replays.ts'
import { listReplays } from '../../replays/list-replays.ts'
import { countsOf, findReplay, type StoredReplay } from '../../replays/stored-replay.ts'
import { PLAN_DEFAULTS, type ReplayAction, type ReplayPlan } from '../../task/replay/replay.ts'
import { TASK_ID_BYTES } from '../../task/lane.ts'
import { replayTold } from '../../telemetry/replay-tidings.ts'
import { Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { bindCursor, openCursor } from '../requests/bound-cursor.ts'
import { readDestination } from '../destinations/find-destination.ts'
import { callerOf } from '../requests/door.ts'
import { etagOf, IF_MATCH, ifVersionAsked, otherVersion } from '../requests/if-match.ts'
import { emptyBodyIsNone } from '../requests/optional-body.ts'
import { readNumbers } from '../requests/query.ts'
import { problemsOfRanges } from '../requests/ranges.ts'
import { refuseWrongBody } from '../requests/validation.ts'
import { answer, refusals } from '../schemas/answers.ts'
import { DEFAULT_PAGE, pageFields, reasonField, taskIdField, type PageQuery } from '../schemas/fields.ts'
import { operation } from '../schemas/operation.ts'
import { rateField } from '../schemas/replay.ts'
import { component, pageOf, parameters, wordOf } from '../schemas/schema.ts'
import { newSince, replayView } from './replay-view.ts'

interface OneReplay {
  readonly Params: { readonly replayId: string }
}

interface Acting extends OneReplay {
  readonly Body: { readonly reason?: string; readonly ratePerSecond?: number }
}

type ReplayQuery = PageQuery & { readonly status?: ReplayStatus }

const REPLAY = component('Replay')
const PATH = parameters({
  replayId: { ...taskIdField, 'x-takes': 'the id of a replay: a UUID of version 7, in small letters' },
})
const QUERY = parameters({ status: Type.Optional(wordOf(REPLAY_STATUSES)), ...pageFields })
const WITH_VERSION = { etag: 'Its version.' }
const NO_QUERY = parameters({})

/** Replays of many dead letters: first a plan that can be read, then its run. */
export function addReplays(api: FastifyInstance, context: ApiContext): void {
  const { store, orders, clock, random, wakeReplays } = context

  api.post<{ Body: ReplayInput }>(
    '/replays',
    {
      attachValidation: true,
      schema: operation({
        operationId: 'planReplay',
        scope: 'operate',
        summary: 'Plan the replay of many dead letters: what it selects, what it leaves alone; nothing is sent',
        tags: ['replays'],
        querystring: NO_QUERY,
        body: component('ReplayInput'),
        response: {
          201: answer(REPLAY, 'It is being counted; what died later is no part of it.', {
            location: 'Where to read it.',
            ...WITH_VERSION,
          }),
          ...refusals(408, 413, 415, 431),
        },
      }),
    },
    async (request, reply) => {
      const readPlace: ReadPlace = text =>
        readDestination({ at: 'filter.destination', is: text }, callerOf(request), orders)
      refuseWrongBody(request, problemsOfPlan(request.body, readPlace))
      const plan = planOf(request.body, readPlace)
      const bytes = Uint8Array.from({ length: TASK_ID_BYTES }, () => Math.floor(random() * 256))
      const stored = await planReplay(store, operatorOf(request, plan.reason), {
        plan,
        now: clock.now(),
        random: bytes,
      })
      if (stored === undefined) throw tooMany()
      wakeReplays(stored.tenant)
      return reply
        .code(201)
        .header('location', `/replays/${stored.replayId}`)
        .header('etag', etagOf(stored.version))
        .send(await toldView(stored, context))
    },
  )

  api.get<{ Querystring: ReplayQuery }>(
    '/replays',
    {
      preValidation: readNumbers(QUERY),
      schema: operation({
        operationId: 'listReplays',
        scope: 'read',
        summary: 'Replays of the last week, the newest first, without the ids of tasks that their filters name',
        tags: ['replays'],
        querystring: QUERY,
        response: { 200: answer(pageOf(REPLAY), 'A page.'), ...refusals() },
      }),
    },
    async (request, reply) => {
      const { cursor, limit = DEFAULT_PAGE, status } = request.query
      const { tenant } = callerOf(request)
      const asked = { kind: 'replay', tenant, status }
      const found = await listReplays(store, { tenant, status, limit, ...openCursor(cursor, asked) })
      const { items, ...next } = bindCursor(found, asked)
      const now = clock.now()
      return reply.send({ items: items.map(({ stored, counts }) => replayView(stored, counts, now)), ...next })
    },
  )

  api.get<OneReplay>(
    '/replays/:replayId',
    {
      schema: operation({
        operationId: 'getReplay',
        scope: 'read',
        summary: 'How far a replay is, and what became of what it sent',
        tags: ['replays'],
        params: PATH,
        querystring: NO_QUERY,
        response: { 200: answer(REPLAY, 'The replay.', WITH_VERSION), ...refusals(404) },
      }),
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const stored = await findReplay(store, request.params.replayId)
      if (stored === undefined || stored.tenant !== caller.tenant) throw unknownReplay(request.params.replayId)
      const since = await newSince(stored, store)
      const view = replayView(stored, await countsOf(store, stored.replayId), clock.now())
      void reply.header('etag', etagOf(stored.version))
      return reply.send({ ...view, ...(since !== undefined && { newSince: since }) })
    },
  )

  for (const { kind, summary, done } of ACTIONS)
    api.post<Acting>(
      `/replays/:replayId/${kind}`,
      {
        preValidation: emptyBodyIsNone,
        schema: operation({
          operationId: `${kind}Replay`,
          scope: 'operate',
          summary,
          tags: ['replays'],
          params: PATH,
          querystring: NO_QUERY,
          headers: IF_MATCH,
          body: Type.Object(
            {
              reason: Type.Optional(reasonField),
              ...(kind === 'resume' && { ratePerSecond: Type.Optional(rateField) }),
            },
            { additionalProperties: false },
          ),
          response: { 200: answer(REPLAY, done, WITH_VERSION), ...refusals(404, 408, 409, 412, 413, 415, 431) },
        }),
      },
      async (request, reply) => {
        const { reason, ratePerSecond } = request.body
        const { replayId } = request.params
        const action: ReplayAction = { kind, ...(ratePerSecond !== undefined && { ratePerSecond }) }
        const ask = { replayId, action, now: () => clock.now(), ...ifVersionAsked(request) }
        const acted = await actOnReplay(store, operatorOf(request, reason), ask)
        if (acted.kind === 'unknown') throw unknownReplay(replayId)
        if (acted.kind === 'conflict') throw otherVersion(acted.stored.version)
        if (acted.kind === 'refused') throw wrongStatus(acted.stored)
        if (acted.kind === 'contended') throw contended(acted.stored)
        wakeReplays(acted.stored.tenant)
        void reply.header('etag', etagOf(acted.stored.version))
        return reply.send(await toldView(acted.stored, context))
      },
    )
}

/** The replay as its caller sees it. Listeners hear of it, too. */
async function toldView(stored: StoredReplay, { store, clock, live }: ApiContext): Promise<Replay> {
  const view = replayView(stored, await countsOf(store, stored.replayId), clock.now())
  live.stream.tell(replayTold(stored, view.counts))
  return view
}

const ACTIONS: readonly { readonly kind: ReplayAction['kind']; readonly summary: string; readonly done: string }[] = [
  { kind: 'run', summary: 'Run a plan as it was read', done: 'It is under way.' },
  {
    kind: 'pause',
    summary: 'Move nothing more for now',
    done: 'What was moved, a tenth of a second’s worth, is still sent.',
  },
  { kind: 'resume', summary: 'Go on, perhaps at another rate', done: 'It is under way.' },
  { kind: 'cancel', summary: 'End it; what was not moved stays dead', done: 'It has ended.' },
]

type ReadPlace = (text: string | undefined) => ReturnType<typeof readDestination>

/** What no schema sees, of a filter that may be wrong in other ways. */
function problemsOfPlan(input: unknown, readPlace: ReadPlace): Problem[] {
  const filter = check.isRecord(input) ? input['filter'] : undefined
  if (!check.isRecord(filter)) return []
  const { taskIds, ...others } = filter
  const { destination } = others
  const [, unknown] = readPlace(typeof destination === 'string' ? destination : undefined)
  const ranges = problemsOfRanges(filter).map(problem => ({ ...problem, at: `filter.${problem.at}` }))
  const problems = [...unknown, ...ranges]
  if (Object.keys(filter).length === 0)
    problems.push({ at: 'filter', is: {}, say: 'must name something: without it every dead letter would be replayed' })
  if (taskIds !== undefined && Object.keys(others).length > 0)
    problems.push({ at: 'filter.taskIds', is: taskIds, say: 'must be the only field of the filter: it names them all' })
  return problems
}

function planOf(input: ReplayInput, readPlace: ReadPlace): ReplayPlan {
  const { taskIds, ...others } = input.filter
  const [destination] = readPlace(others.destination)
  // Ids are in the order of time: the oldest go first here too.
  const sorted = taskIds === undefined ? {} : { taskIds: [...new Set(taskIds)].toSorted() }
  return {
    ...PLAN_DEFAULTS,
    ...input,
    filter: { ...others, ...(destination !== undefined && { destination }), ...sorted },
  }
}

function operatorOf(request: FastifyRequest, reason: string | undefined): Operator {
  const { tenant, actor } = callerOf(request)
  return { tenant, actor, reason }
}

function unknownReplay(replayId: string): Refusal {
  return new Refusal('replay-not-found', {
    detail: `${replayId} is unknown: it never was, or it ended more than a week ago.`,
  })
}

function tooMany(): Refusal {
  return new Refusal('too-many-replays', {
    detail: `There are ${MOST_REPLAYS} of the last week already. Those that ended are forgotten a week after their end, plans that were not run after a day.`,
    headers: { 'retry-after': '3600' },
  })
}

function wrongStatus({ replayId, replay: { status } }: StoredReplay): Refusal {
  return new Refusal('wrong-replay-status', { detail: `${replayId} is ${status}. ${INSTEAD[status]}` })
}

function contended({ replayId }: StoredReplay): Refusal {
  return new Refusal('write-conflict', {
    detail: `Others changed ${replayId} over and over at the same moment; look at it, and decide anew.`,
  })
}

/** What can be done with a replay as it is. */
const INSTEAD: { readonly [status in ReplayStatus]: string } = {
  PLANNING: 'Its selection is being counted: ask again when it is PLANNED, or cancel it.',
  PLANNED: 'It can be run, or cancelled.',
  CANARY: 'It can be paused, or cancelled.',
  RUNNING: 'It can be paused, or cancelled.',
  PAUSED: 'It can be resumed, or cancelled.',
  STOPPED: 'Its own rule stopped it. It can be resumed, or cancelled.',
  CANCELLED: 'It has ended: plan another one.',
  FINISHED: 'It has ended: plan another one.',
}
