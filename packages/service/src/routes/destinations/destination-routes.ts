/** What can be asked of, and set for, one destination. */
import type { Destination, DestinationSettingsInput, ForceInput, PauseInput, ResumeInput } from '@secondwind/client'
import type { FastifyInstance, FastifyReply, FastifyRequest, preValidationHookHandler } from 'fastify'
import { isDeepStrictEqual } from 'node:util'
import type { TSchema } from 'typebox'
import type { Caller } from '../../access/caller.ts'
import { storeTimeAt } from '../../stores/store-clock.ts'
import { isHeldBack, orderedBack, without, type SetBy } from '../../task/destination-settings.ts'
import { laneOf } from '../../task/lane.ts'
import type { ApiContext } from '../context.ts'
import { callerOf } from '../requests/door.ts'
import { etagOf, IF_MATCH, versionAsked } from '../requests/if-match.ts'
import { invalid } from '../requests/validation.ts'
import { answer, refusals } from '../schemas/answers.ts'
import { checkRamp, rampOf, wayBackOf } from '../schemas/coming-back.ts'
import * as schemas from '../schemas/destination.ts'
import { destinationField } from '../schemas/fields.ts'
import { operation } from '../schemas/operation.ts'
import { component, parameters } from '../schemas/schema.ts'
import { changeSettings, type Change } from './change-settings.ts'
import { findPlace, type Place } from './find-destination.ts'
import { readSettings } from './read-settings.ts'
import { showDestination } from './show-destination.ts'

const DESTINATION = component('Destination')
const PATH = parameters({
  name: {
    ...destinationField,
    maxLength: 300,
    'x-takes': 'the name of a destination, or its origin, such as https://api.example, without credentials',
    description: 'The name it was given, or its origin, percent-encoded.',
    examples: ['payments-api'],
  },
})

interface OneDestination<Body = unknown> {
  readonly Params: { readonly name: string }
  readonly Body: Body
}

export function addOneDestination(api: FastifyInstance, context: ApiContext): void {
  const { clock } = context

  api.get<OneDestination>(
    '/destinations/:name',
    {
      schema: operation({
        operationId: 'getDestination',
        scope: 'read',
        summary: 'One destination: its gates, its backlog, what was set for it and by whom',
        tags: ['destinations'],
        params: PATH,
        querystring: parameters({}),
        response: { 200: answer(DESTINATION, 'The destination.', WITH_VERSION), ...refusals(404) },
      }),
    },
    async (request, reply) => {
      return sendDestination(reply, await show(placeFor(request, context), request, context))
    },
  )

  /** Each changes one part of the settings, and answers with the whole. */
  const post = <Body extends { readonly reason?: string }>(
    verb: string,
    told: { readonly operationId: string; readonly summary: string; readonly body: TSchema },
    change: (body: Body, by: SetBy) => Pick<Change, 'apply' | 'details' | 'touched'>,
  ): void => {
    api.post<OneDestination>(
      `/destinations/:name/${verb}`,
      { preValidation: noBodyIsEmpty, schema: operation({ ...told, ...OPERATED, response: CHANGED }) },
      async (request, reply) => {
        const body = request.body as Body
        const caller = callerOf(request)
        const place = placeFor(request, context)
        const { reason } = body
        const changed = change(body, setBy(caller, reason, clock.now()))
        const ifVersion = versionAsked(request)
        const asked = { id: place.id, caller, action: `destination.${verb}`, reason, ifVersion }
        await changeSettings({ ...asked, ...changed }, context)
        return sendDestination(reply, await show(place, request, context))
      },
    )
  }

  api.put<OneDestination<DestinationSettingsInput>>(
    '/destinations/:name/settings',
    {
      attachValidation: true,
      schema: operation({
        ...OPERATED,
        operationId: 'putDestinationSettings',
        summary: 'Give it a name and limits of its own; what is left out is as for all',
        body: schemas.SETTINGS_INPUT,
        response: CHANGED,
      }),
    },
    async (request, reply) => {
      const { name, limits, reason, ifVersion } = readSettings(request)
      const place = placeFor(request, context)
      const caller = callerOf(request)
      const set = { ...(name !== undefined && { name }), ...(limits !== undefined && { limits }) }
      const by = setBy(caller, reason, clock.now())
      await changeSettings(
        {
          id: place.id,
          caller,
          action: 'destination.settings',
          reason,
          details: { ...set },
          ifVersion,
          touched: [{ part: 'limitsBy', isLifted: false }],
          apply: settings => {
            // A tenant that sends them as they are has not set them.
            const isAsItWas = !caller.isOperator && isDeepStrictEqual(limits, settings.limits)
            const limitsBy = isAsItWas ? settings.limitsBy : by
            return {
              ...without(settings, 'name', 'limits', 'limitsBy'),
              ...set,
              ...(limits !== undefined && limitsBy !== undefined && { limitsBy }),
            }
          },
        },
        context,
      )
      return sendDestination(reply, await show(place, request, context))
    },
  )

  post<PauseInput>(
    'pause',
    {
      operationId: 'pauseDestination',
      summary: 'Send nothing to it; tasks wait, and none is dropped. Attempt-now passes a pause of a tenant',
      body: schemas.PAUSE_INPUT,
    },
    (body, by) => {
      const until = pauseEnd(body, context)
      const paused = { ...by, ...(until !== undefined && { until }), ...rampOf(body) }
      return {
        touched: [{ part: 'paused', isLifted: false }],
        apply: settings => {
          const resumed = by.isByOperator ? undefined : orderedBack(settings, by.since)
          return { ...without(settings, 'resumed'), paused, ...(resumed !== undefined && { resumed }) }
        },
        details: until === undefined ? {} : { until },
      }
    },
  )

  post<ResumeInput>(
    'resume',
    {
      operationId: 'resumeDestination',
      summary:
        'Send again, step by step; under a stop rule it is paused again when too much fails. What is not paused stays as it is',
      body: schemas.RESUME_INPUT,
    },
    (body, by) => {
      const way = wayBackOf(body)
      const resumed = { ...by, ...way }
      return {
        touched: [
          { part: 'paused', isLifted: true },
          { part: 'resumed', isLifted: false },
        ],
        apply: settings => {
          // A ramp would throttle what nobody has stopped.
          if (!isHeldBack(settings, by.since)) return settings
          // A tenant that lifts its own pause goes on upon the way that an operator has ordered.
          const ordered = by.isByOperator || settings.paused === undefined ? undefined : orderedBack(settings, by.since)
          return { ...without(settings, 'paused'), resumed: ordered ?? resumed }
        },
        details: { ...way },
      }
    },
  )

  post<{ readonly reason?: string }>(
    'drain',
    {
      operationId: 'drainDestination',
      summary: 'Take no new tasks for it; what waits goes on',
      body: schemas.DRAIN_INPUT,
    },
    (_, draining) => ({
      touched: [{ part: 'draining', isLifted: false }],
      apply: settings => ({ ...settings, draining }),
    }),
  )

  post<{ readonly reason?: string }>(
    'undrain',
    { operationId: 'undrainDestination', summary: 'Take tasks for it again', body: schemas.DRAIN_INPUT },
    () => ({
      touched: [{ part: 'draining', isLifted: true }],
      apply: settings => without(settings, 'draining'),
    }),
  )

  post<ForceInput>(
    'force',
    {
      operationId: 'forceBreaker',
      summary: 'Set its breaker by hand: open, closed, or opening and closing by itself again',
      body: schemas.FORCE_INPUT,
    },
    ({ breaker }, by) => ({
      touched: [{ part: 'forced', isLifted: breaker !== 'open' }],
      apply: settings => ({ ...settings, forced: { ...by, breaker } }),
      details: { breaker },
    }),
  )
}

const WITH_VERSION = { etag: 'The version of its settings; 0 when there are none.' }
const OPERATED = {
  scope: 'operate',
  tags: ['destinations'],
  params: PATH,
  querystring: parameters({}),
  headers: IF_MATCH,
} as const
const CHANGED = {
  200: answer(DESTINATION, 'The destination, as it is set now.', WITH_VERSION),
  ...refusals(404, 408, 409, 412, 413, 415),
}

function setBy({ actor: by, isOperator }: Caller, reason: string | undefined, since: number): SetBy {
  return { since, by, ...(isOperator && { isByOperator: true }), ...(reason !== undefined && { reason }) }
}

/** Whoever has nothing to say sends no body. */
const noBodyIsEmpty: preValidationHookHandler = (request, _, done) => {
  request.body ??= {}
  done()
}

function placeFor(
  request: { readonly params: unknown } & Pick<FastifyRequest, 'caller'>,
  { orders }: ApiContext,
): Place {
  const { name } = request.params as { readonly name: string }
  return findPlace(name, callerOf(request as FastifyRequest), orders)
}

function sendDestination(reply: FastifyReply, shown: Destination): FastifyReply {
  return reply.header('etag', etagOf(shown.settings?.version ?? 0)).send(shown)
}

function show({ id }: Place, request: FastifyRequest, context: ApiContext): Promise<Destination> {
  return showDestination(laneOf(id).destination, callerOf(request), context)
}

function pauseEnd(pause: PauseInput, { clock, wallNow }: ApiContext): number | undefined {
  const { forMs, until } = pause
  const clocks = { now: clock.now(), wallNow: wallNow() }
  const isPast = until !== undefined && until <= clocks.wallNow
  const problems = [
    ...checkRamp(pause, { hasEnd: (forMs ?? until) !== undefined, ends: 'forMs or until' }),
    ...(forMs !== undefined && until !== undefined
      ? [{ at: 'forMs', is: forMs, say: 'must not stand beside until: one of them' }]
      : []),
    ...(isPast ? [{ at: 'until', is: until, say: 'must be an instant that is to come' }] : []),
  ]
  if (problems.length > 0) throw invalid('body', problems)
  if (until !== undefined) return Math.ceil(storeTimeAt(until, clocks))
  return forMs === undefined ? undefined : clocks.now + forMs
}
