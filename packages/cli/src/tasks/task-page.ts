import type { AttemptEnd, Client, Explanation, Hold, RetryTask } from '@secondwind/client'
import type { NameOfActor, SayingWho } from '../access/who.ts'
import { sayBytes } from '../output/say-bytes.ts'
import { sayWhen } from '../output/say-time.ts'
import type { RemoteCall } from '../remote/remote-command.ts'
import { ofTenant, whoseFlag } from '../remote/whose.ts'
import { openGate, typedAsOwner } from '../steering/open-gate.ts'
import { labelled, wrap, type Page } from '../terminal/page.ts'

const LABEL_WIDTH = 13

/** All that there is to say of one task. */
export function showTask(task: RetryTask, now: number, page: Page, nameOf: NameOfActor = actor => actor): string {
  const { bold } = page.colors
  return [
    `${bold(task.taskId)}  ${task.status}${ofTenant(task)}`,
    wrap(`${task.method} ${task.targetUrl}`, page.columns, '  '),
    ...(task.waits === undefined ? [] : ['', wrap(task.waits, page.columns)]),
    '',
    ...factsOf(task, { now, nameOf }).map(([label, text]) =>
      labelled(`  ${label}`, text, { columns: page.columns, width: LABEL_WIDTH }),
    ),
  ].join('\n')
}

function factsOf(task: RetryTask, { now, nameOf }: SayingWho): readonly (readonly [string, string])[] {
  const { attemptNumber, generation, nextAttemptAt, endedAt, lastAttempt, metadata, bodyBytes, bodyRef } = task
  const replayed = generation === 1 ? '' : `, in generation ${generation}`
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['attempts', `${attemptNumber}${replayed}`],
    ['last', lastAttempt && sayAttemptEnd(lastAttempt)],
    ['next', nextAttemptAt === undefined ? undefined : sayWhen(nextAttemptAt, now)],
    ['given up', sayGivenUp(task, now)],
    ['ended', endedAt === undefined ? undefined : sayWhen(endedAt, now)],
    ['cancelled', task.cancelRequested && 'when the attempt under way has ended'],
    ['deadline', sayWhen(task.expiresAt, now)],
    ['created', sayWhen(task.createdAt, now)],
    ['created by', task.createdBy === undefined ? undefined : nameOf(task.createdBy)],
    ['policy', `${task.policyId}@${task.policyVersion}`],
    ['key', task.idempotencyKey],
    [
      'body',
      bodyBytes === undefined ? undefined : `${sayBytes(bodyBytes)}${bodyRef === undefined ? '' : `, ${bodyRef}`}`,
    ],
    ['callback', task.callbackUrl],
    ...Object.entries(task.headers).map(([name, value]) => ['header', `${name}: ${value}`] as const),
    ...Object.entries(metadata ?? {}).map(([name, value]) => ['metadata', `${name}=${value}`] as const),
    ['note', task.note],
  ]
  return facts.flatMap(([label, text]) => (text === undefined ? [] : [[label, text] as const]))
}

/** `deadline, held by breaker-open since 2026-11-16T02:07:58Z, 3 min ago`. */
function sayGivenUp({ reason, heldBy, heldSince }: RetryTask, now: number): string | undefined {
  if (heldBy === undefined || heldSince === undefined) return reason
  return `${reason}, held by ${heldBy} since ${sayWhen(heldSince, now)}`
}

/** `transient http-503: the target answered 503`. */
export function sayAttemptEnd({ outcome, errorCode, errorMessage }: AttemptEnd): string {
  return `${[outcome, errorCode].filter(Boolean).join(' ')}${errorMessage === undefined ? '' : `: ${errorMessage}`}`
}

/** With it an attempt is a trial: the operator sees the result. */
export const PROBE_WAIT: readonly string[] = ['--wait', '30s']

type Asking = Pick<RemoteCall, 'typed' | 'hasKey' | 'tenant'> & { readonly clock: Pick<RemoteCall['clock'], 'now'> }

/** What can be done with a task as it is, and about the gate that holds it. */
export function nextFor(task: RetryTask, asking: Asking, hold?: Hold): readonly string[] {
  const { status, taskId, destination } = task
  const { typed, clock } = asking
  const gates = gatesOf(hold)
  const isOthers = gates.some(gate => isOperatorsAlone(gate, asking))
  const isInVain = isOthers || task.expiresAt <= clock.now() || gates.some(isForEveryAttempt)
  const isPaused = gates.some(({ reason }) => reason === 'paused')
  const verbs = NEXT[status].filter(verb => !(verb === 'attempt-now' && (isInVain || isPaused)))
  const lines = [
    ...(isOthers ? [typed('tasks', 'watch', taskId)] : []),
    // An open gate lets all the others go, too: one goes first.
    ...(isPaused && !isInVain ? [typed('tasks', 'attempt-now', taskId, ...PROBE_WAIT)] : []),
    ...gates
      .filter(gate => !isOperatorsAlone(gate, asking))
      .flatMap(gate => openGate(gate, destination, typedAsOwner(gate, task, asking)) ?? []),
    ...(gates.some(opensByItself) ? [typed('tasks', 'watch', taskId), typed('destinations', 'get', destination)] : []),
    ...verbs.flatMap(verb => [
      ...(verb === 'replay' && task.reason === 'body-missing' ? [putBody(task, asking)] : []),
      typed('tasks', verb, taskId),
    ]),
  ]
  return [...new Set(lines)]
}

/** A body is its tenant's: under the same name another tenant has another. */
function putBody(task: RetryTask, { typed, tenant }: Asking): string {
  return typed('bodies', 'put', 'FILE', ...whoseFlag(task, tenant))
}

/** What is to be known before one of these is typed. */
export function sayBefore(hold: Hold | undefined, asking: Asking): string | undefined {
  const gates = gatesOf(hold)
  if (gates.some(gate => isOperatorsAlone(gate, asking)))
    return "An operator has shut this gate: only an operator's key opens it."
  return gates.some(isOpenByItself)
    ? 'The breaker closes by itself as soon as the target answers. Close it by hand only if you know that it is back.'
    : undefined
}

/** A caller without a key, or who names a tenant, is an operator. Whose a key is the command line does not know. */
function isOperatorsAlone({ isByOperator }: Hold, { hasKey, tenant }: Asking): boolean {
  return isByOperator === true && hasKey && tenant === undefined
}

/** An attempt by hand passes a pause of its tenant, needs no credit, and goes before others; these gates it cannot pass. */
export function isForEveryAttempt(hold: Hold): boolean {
  return (
    SHUT.includes(hold.reason) ||
    (hold.reason === 'paused' && hold.isByOperator === true) ||
    (hold.reason === 'breaker-open' && hold.since === undefined && hold.until === undefined)
  )
}

const SHUT: readonly Hold['reason'][] = ['kill-switch', 'probing', 'retry-after', 'store']

function opensByItself({ until }: Hold): boolean {
  return until !== undefined
}

function isOpenByItself({ reason, until }: Hold): boolean {
  return reason === 'breaker-open' && until !== undefined
}

/** A breaker that opened by itself finds out by itself. An operator who knows that the target is back need not wait. */
export function closeBreaker(
  hold: Hold | undefined,
  destination: string,
  typed: RemoteCall['typed'],
): readonly string[] {
  return gatesOf(hold).some(isOpenByItself) ? [typed('destinations', 'breaker', destination, '--set', 'closed')] : []
}

/** All that are shut, the one that lasts longest first. */
export function gatesOf(hold: Hold | undefined): readonly Hold[] {
  return hold === undefined ? [] : [hold, ...(hold.others ?? [])]
}

/** Why a task waits, if it does. That it is not known is no failure: what was asked for has been done already. */
export async function explanationOf(client: Client, task: RetryTask): Promise<Explanation | undefined> {
  return task.status === 'PENDING' ? client.tasks.explain(task.taskId).catch(() => undefined) : undefined
}

/** The gate that holds it now; only a task that waits has one. It decides what to type next. */
export async function holdOf(client: Client, task: RetryTask): Promise<Hold | undefined> {
  return (await explanationOf(client, task))?.hold
}

const NEXT: { readonly [status in RetryTask['status']]: readonly string[] } = {
  PENDING: ['explain', 'attempt-now', 'cancel'],
  IN_FLIGHT: ['watch', 'cancel'],
  SUCCEEDED: ['attempts'],
  EXHAUSTED: ['attempts', 'replay'],
  CANCELLED: ['attempts'],
}
