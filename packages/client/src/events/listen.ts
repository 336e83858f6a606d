import { DEFAULT_POLICY, delayMs, NOT_ARMED, type Alarm, type Clock, type RetryPolicy } from '@secondwind/resilience'
import { check } from '@secondwind/resilience/rules'
import { anySignal } from '../any-signal.ts'
import { LONGEST_AWAY_MS, passes } from '../away.ts'
import type { Call, Caller } from '../caller.ts'
import { DESTINATION, refuse, TASK_ID } from '../check/fields.ts'
import { ServiceError, UnreachableError } from '../errors.ts'
import { readJson } from '../read-json.ts'
import type { EventFilter, EventType, ServiceEvent } from '../wire/event.ts'
import { FrameReader, type Frame } from './frames.ts'

/** Between two tries to come back. */
const RECONNECT: RetryPolicy = {
  ...DEFAULT_POLICY,
  initialDelayMs: 200, // a connection that broke by itself is soon there again
  maxDelayMs: 5_000,
}

/** So long somebody is looked for who has never been there. */
const FIRST_PATIENCE_MS = 10_000

/** The service asks for a second or two: whoever asks for more than this is asked again all the same. */
const LONGEST_RETRY_MS = 30_000

/** The service says something every 15 s: after three silences it is not there. */
const LONGEST_SILENCE_MS = 45_000

/**
 * What happens, as it happens, until the loop is left or the signal aborts. A connection that breaks is opened anew, and
 * goes on after the last event; where something is missing nevertheless, a `gap` says so.
 */
export async function* listen(caller: Caller, filter: EventFilter, call: Call): AsyncGenerator<ServiceEvent> {
  refuse('events cannot be listened to', check.checkFields(filter, FIELDS))
  const { clock, random } = caller
  const ended = anySignal(call.signal, caller.signal)
  const place: Place = { since: filter.since, retryMs: 0 }
  let hasListened = false
  let failures = 0
  let awaySince = 0
  for (;;) {
    let askedMs = 0
    try {
      for await (const frame of framesOf(caller, filter, place, ended)) {
        hasListened = true
        failures = 0
        place.since = frame.id ?? place.since
        place.retryMs = Math.min(frame.retryMs ?? place.retryMs, LONGEST_RETRY_MS)
        const event = eventOf(frame)
        if (event !== undefined) yield event
      }
    } catch (error) {
      ended?.throwIfAborted()
      if (!(error instanceof UnreachableError || passes(error))) throw error
      if (failures === 0) awaySince = clock.monotonic()
      askedMs = (error instanceof ServiceError && error.retryAfterMs) || 0
      const patienceMs = hasListened ? LONGEST_AWAY_MS : FIRST_PATIENCE_MS
      if (clock.monotonic() + askedMs - awaySince > patienceMs) throw error
    }
    failures++
    const ownMs = delayMs(RECONNECT, { attempt: failures, previousDelayMs: RECONNECT.initialDelayMs }, random())
    await clock.sleep(Math.max(ownMs, askedMs, place.retryMs), ended)
  }
}

/** Where to go on, and how long to wait before. */
interface Place {
  since: string | undefined
  retryMs: number
}

/** The frames of one connection, until it ends. */
async function* framesOf(
  caller: Caller,
  { destination, taskId, types }: EventFilter,
  { since }: Place,
  signal: AbortSignal | undefined,
): AsyncGenerator<Frame> {
  const silence = new Silence(caller.clock)
  const reader = new FrameReader()
  const decoder = new TextDecoder()
  try {
    silence.begin()
    const read = await caller.open({
      path: '/events',
      query: { destination, taskId, types: types?.join(',') },
      headers: { accept: 'text/event-stream', ...(since !== undefined && { 'last-event-id': since }) },
      signal: anySignal(signal, silence.signal)!,
    })
    for (;;) {
      silence.begin()
      const bytes = await read()
      silence.end()
      if (bytes === undefined) return
      yield* reader.read(decoder.decode(bytes, { stream: true }))
    }
  } finally {
    silence.end()
    silence.leave()
  }
}

/** Ends a connection on which nothing comes; not while nobody reads it. */
class Silence implements Alarm {
  dueAt = 0
  slot: number = NOT_ARMED
  readonly #clock: Clock
  readonly #controller = new AbortController()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  begin(): void {
    this.end()
    this.dueAt = this.#clock.monotonic() + LONGEST_SILENCE_MS
    this.#clock.arm(this)
  }

  end(): void {
    this.#clock.disarm(this)
  }

  ring(): void {
    this.leave()
  }

  /** Nobody reads on: the connection must not stay open. */
  leave(): void {
    this.#controller.abort(new DOMException(`nothing came for ${LONGEST_SILENCE_MS} ms`, 'TimeoutError'))
  }
}

/** Undefined for what is no event, or one that only a newer client knows. */
function eventOf({ event, id = '' }: Frame): ServiceEvent | undefined {
  if (event === undefined || !Object.hasOwn(TYPES, event.type)) return undefined
  const told: unknown = withName(readJson(event.data), { type: event.type, eventId: id })
  if (isServiceEvent(told)) return told
  throw new ServiceError({
    asked: 'GET /events',
    status: 200,
    code: 'unexpected-answer',
    detail: `an event ${event.type} does not hold what it should: is it the right address, and no proxy in between?`,
  })
}

function withName(data: unknown, name: { readonly type: string; readonly eventId: string }): unknown {
  return check.isRecord(data) ? { ...data, ...name } : undefined
}

/** By the field that none of its type is without; the others are taken at the service's word, as in every answer. */
function isServiceEvent(told: unknown): told is ServiceEvent {
  return check.isRecord(told) && Object.hasOwn(told, TYPES[told['type'] as EventType])
}

const TYPES: { readonly [type in EventType]: string } = {
  task: 'taskId',
  counters: 'tasks',
  destination: 'destination',
  control: 'controlId',
  replay: 'replayId',
  gap: 'because',
}

const FIELDS: { readonly [field in keyof EventFilter]-?: check.FieldCheck } = {
  destination: DESTINATION,
  taskId: TASK_ID,
  types: value =>
    Array.isArray(value) && value.length > 0 && value.every(type => Object.hasOwn(TYPES, type as string))
      ? undefined
      : `a list of some of ${Object.keys(TYPES).join(', ')}`,
  since: value =>
    typeof value === 'string' && /^[\da-f]{8}-\d{1,15}$/.test(value) ? undefined : 'the eventId of an event',
}
