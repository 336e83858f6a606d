/** From what a caller asked for to a task that the store can take: an order that is right, or every problem at once. */
import { nextTurn, type Clock, type Problem, type Random, type RetryPolicy } from '@secondwind/resilience'
import { check } from '@secondwind/resilience/rules'
import { newTaskId } from '../../task/lane.ts'
import type { PolicyBook } from '../../policies/policy-book.ts'
import { storeTimeAt } from '../../stores/store-clock.ts'
import type { BodyRecord } from '../../stores/store.ts'
import { isCallbackKey } from '../../task/callback.ts'
import { accept, INLINE_POLICY, type NewTask, type PolicyInForce } from '../../task/accept.ts'
import type { TaskRequest } from '../../task/task.ts'
import { comeBackAfter, Refusal, sentence } from '../answers/refusal.ts'
import type { ApiContext, ApiLimits } from '../context.ts'
import type { AskedPolicies } from '../policies/asked-policies.ts'
import { DEFAULT_POLICY_ID, readPolicy } from '../policies/read-policy.ts'
import { requestHash } from '../request-hash.ts'
import { FOUND_WRONG, isWellFormed, refuseWrong, right, sure, valueOf, wrong, type Read } from './read.ts'
import { IDEMPOTENCY_KEY, type TaskInput } from '../schemas/task-input.ts'
import { refuseClosedIntake } from './closed-intake.ts'
import { findBody, readBody, readHeaders, type Headers, type ReadTargetUrl, type TargetUrl } from './target.ts'
import { LONGEST_MS } from '../schemas/fields.ts'
import { newSharedRate, takeToken } from '../../task/shared-rate.ts'

/** What all that bring tasks go through. */
export interface Intake {
  readonly policies: PolicyBook
  /** Throws when they come too fast. */
  readonly limit: (tenant: string) => void
  /** Goes on with all that came at once. */
  readonly turn: () => Promise<void>
  readonly readTargetUrl: ReadTargetUrl
}

export interface Asked {
  readonly tenant: string
  /** Who brings it. */
  readonly actor: string
  /** As it was parsed. */
  readonly input: unknown
  /** What its schema found wrong. */
  readonly shape: readonly Problem[]
  /** The `Idempotency-Key` of the request, if it had one. */
  readonly keyHeader?: string | undefined
  /** The same for all that comes in a request. */
  readonly policies: AskedPolicies
  readonly readTargetUrl: ReadTargetUrl
}

type Given = Partial<TaskInput>

/**
 * The task that was asked for: at once where all that it names is at hand, which it nearly always is. Throws the refusal, or
 * rejects with it, with everything that is wrong.
 */
export function readTask(asked: Asked, context: ApiContext): NewTask | Promise<NewTask> {
  const given = soundFields(asked)
  const policy = findPolicy(asked.policies, given)
  const stored = given.bodyRef === undefined ? NO_STORED_BODY : findBody(asked.tenant, given, context.store)
  if (!(policy instanceof Promise) && !(stored instanceof Promise))
    return taskOf(asked, given, { policy, stored }, context)
  return Promise.all([policy, stored]).then(found =>
    taskOf(asked, given, { policy: found[0], stored: found[1] }, context),
  )
}

const NO_STORED_BODY: Read<BodyRecord | undefined> = right(undefined)

/** What a task names and others keep. */
interface Found {
  readonly policy: Read<PolicyInForce>
  readonly stored: Read<BodyRecord | undefined>
}

function taskOf(asked: Asked, given: Given, { policy, stored }: Found, context: ApiContext): NewTask {
  const { tenant, readTargetUrl } = asked
  const [now, wallNow] = [context.clock.now(), context.wallNow()]
  const key = readKey(given.idempotencyKey, asked.keyHeader)
  const url = given.targetUrl === undefined ? FOUND_WRONG : readTargetUrl(given.targetUrl)
  const callback = given.callbackUrl === undefined ? NO_CALLBACK : readTargetUrl(given.callbackUrl, 'callbackUrl')
  const headers = readHeaders(given.headers ?? {}, valueOf(key))
  const body = readBody(given)
  const others = [
    ...shapeOf(asked),
    ...checkMetadata(given.metadata),
    ...contradictions(given, valueOf(policy)?.document, wallNow),
  ]
  refuseWrong([policy, key, url, callback, headers, body, stored], others)
  refuseLargeBody(sure(body), context.limits.bodyBytes)

  const { href: targetUrl, destination } = sure(url)
  const { method = 'POST' } = given
  const request = { targetUrl, method, body: sure(body), ...withStoredBody(sure(headers), sure(stored)) }
  const { policyId, document, isInline } = sure(policy)
  refuseClosedIntake({ tenant, destination }, policyId, context)
  const { delayMs, notBefore, deadlineAt, attemptsMade, elapsedMs, metadata } = given
  const callbackUrl = sure(callback)?.href
  const carried = { request, delayMs, attemptsMade, metadata, callbackUrl }
  const order = {
    ...carried,
    taskId: newTaskId({ tenant, destination }, now, context.random),
    tenant,
    destination,
    idempotencyKey: sure(key),
    // The instants that a caller named, by the clock that they will be met by.
    notBefore: notBefore === undefined ? undefined : Math.ceil(storeTimeAt(notBefore, { now, wallNow })),
    deadlineAt: deadlineAt === undefined ? undefined : Math.floor(storeTimeAt(deadlineAt, { now, wallNow })),
    elapsedMs,
    createdBy: asked.actor,
    requestHash: requestHash({ ...carried, notBefore, deadlineAt, policy: isInline ? document : policyId }),
  }
  return accept(order, sure(policy), { now, roll: context.random() })
}

const NO_CALLBACK: Read<TargetUrl | undefined> = right(undefined)

/** What was uploaded keeps its type, unless the task gives another. */
function withStoredBody(headers: Headers, stored: BodyRecord | undefined): Pick<TaskRequest, 'headers' | 'storedBody'> {
  if (stored === undefined) return { headers }
  const { bodyRef, sizeBytes, contentType } = stored
  return { headers: { 'content-type': contentType, ...headers }, storedBody: { bodyRef, sizeBytes } }
}

/** Without what the schema has found wrong: what is right can be looked at further. */
function soundFields({ input, shape }: Asked): Given {
  if (!check.isRecord(input)) return {}
  if (shape.length === 0) return input
  const unsound = new Set(shape.map(({ at }) => at.split('.', 1)[0]))
  const { headers } = input
  return {
    ...Object.fromEntries(Object.entries(input).filter(([field]) => !unsound.has(field))),
    ...(check.isRecord(headers) && { headers: textsOf(headers) }),
    // The library finds more in a policy than a schema does, and says it better.
    ...(Object.hasOwn(input, 'policy') && { policy: input['policy'] }),
  }
}

function textsOf(headers: { readonly [name: string]: unknown }): Headers {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

function shapeOf({ shape }: Asked): readonly Problem[] {
  return shape.length === 0 ? shape : shape.filter(({ at }) => at !== 'policy' && !at.startsWith('policy.'))
}

function findPolicy(policies: AskedPolicies, given: Given): Read<PolicyInForce> | Promise<Read<PolicyInForce>> {
  if (given.policy !== undefined) {
    const { policy, problems } = readPolicy(given.policy, 'policy')
    if (policy === undefined) return { problems }
    return right({ policyId: INLINE_POLICY, version: 1, document: policy, isInline: true })
  }
  const { policyId = DEFAULT_POLICY_ID } = given
  const look = policies.named(policyId)
  return look instanceof Promise ? look.then(found => orUnknown(found, policyId, policies)) : right(look)
}

async function orUnknown(
  found: PolicyInForce | undefined,
  policyId: string,
  policies: AskedPolicies,
): Promise<Read<PolicyInForce>> {
  if (found !== undefined) return right(found)
  const say =
    policyId === INLINE_POLICY
      ? 'is none: give the document itself as policy'
      : `is not known here${await policies.near(policyId)}`
  const alone = { code: 'policy-not-found', status: 422, detail: sentence(`the policy ${policyId} ${say}`) } as const
  return { ...wrong('policyId', policyId, say), alone }
}

const KEY = new RegExp(IDEMPOTENCY_KEY)

function readKey(field: string | undefined, header: string | undefined): Read<string | undefined> {
  const given = field ?? header
  if (given !== undefined && isCallbackKey(given))
    return wrong('idempotencyKey', given, 'is of the form that callbacks have: choose another')
  if (header === undefined) return right(field)
  if (!KEY.test(header)) return wrong('Idempotency-Key', header, 'must be 1 to 255 visible ASCII characters')
  if (field === undefined || field === header) return right(header)
  return wrong('idempotencyKey', field, 'differs from the header Idempotency-Key: give one of them, or the same')
}

/** Text that not every store could keep as it is. */
function checkMetadata(metadata: Given['metadata']): Problem[] {
  if (metadata === undefined) return []
  return Object.entries(metadata).flatMap(([name, is]) =>
    [name, is].every(text => isWellFormed(text) && !text.includes('\0'))
      ? []
      : { at: `metadata.${name}`, is, say: 'must be text without NUL and without halves of surrogate pairs' },
  )
}

function refuseLargeBody(body: Uint8Array | null, bodyBytes: number): void {
  if (body !== null && body.length > bodyBytes)
    throw new Refusal('body-too-large', {
      detail: `The body to send has ${body.length} bytes, ${bodyBytes} are taken. Upload it to /bodies, and give the task its bodyRef.`,
    })
}

/** What each field alone cannot see: with another one, with the policy, with the clock. */
function contradictions(given: Given, policy: RetryPolicy | undefined, now: number): Problem[] {
  const problems: Problem[] = []
  const wrong = (at: keyof Given, say: string): unknown => problems.push({ at, is: given[at], say })
  if (given.policyId !== undefined && given.policy !== undefined) wrong('policyId', 'and policy exclude each other')
  checkTimes(given, now, wrong)
  if (policy !== undefined) checkHandOver(given, policy, wrong)
  return problems
}

type SayWrong = (at: keyof Given, say: string) => unknown

function checkTimes({ delayMs, notBefore, deadlineAt = Infinity }: Given, now: number, wrong: SayWrong): void {
  const firstAt = Math.max(now, notBefore ?? now + (delayMs ?? 0))
  if (delayMs !== undefined && notBefore !== undefined) wrong('delayMs', 'and notBefore exclude each other')
  if (firstAt > now + LONGEST_MS) wrong('notBefore', 'must be within ten years')
  if (deadlineAt <= now) wrong('deadlineAt', `must be in the future; the service's clock says ${now}`)
  else if (deadlineAt <= firstAt) wrong('deadlineAt', `must be later than the first attempt, ${firstAt}`)
}

/** Attempts and time that were spent in process are part of the whole: something must be left of it. */
function checkHandOver({ attemptsMade = 0, elapsedMs = 0 }: Given, policy: RetryPolicy, wrong: SayWrong): void {
  const { maxAttempts, totalBudgetMs } = policy
  if (attemptsMade >= maxAttempts)
    wrong('attemptsMade', `leaves no attempt: maxAttempts of the policy is ${maxAttempts}`)
  if (elapsedMs >= totalBudgetMs) wrong('elapsedMs', `leaves no time: totalBudgetMs of the policy is ${totalBudgetMs}`)
}

/**
 * Requests that arrived in the same turn of the event loop go on together, once all of them have been read: each finds in the
 * processor's caches what the one before it used. It pays for about 7 % of the processor time of intake over 64 connections.
 */
export function createSharedTurn(): () => Promise<void> {
  let turn: Promise<void> | undefined
  const begin = (): Promise<void> =>
    new Promise(resolve =>
      nextTurn(() => {
        turn = undefined
        resolve()
      }),
    )
  return () => (turn ??= begin())
}

/** Turns away whoever brings tasks faster than the service is set up to take them; no tenant uses up what others need. */
export function createIntakeLimit(
  { intakePerSecond }: ApiLimits,
  clock: Clock,
  random: Random,
): (tenant: string) => void {
  if (intakePerSecond === undefined) return () => undefined
  const burst = Math.max(1, Math.ceil(intakePerSecond))
  const rate = newSharedRate({ perSecond: intakePerSecond, burst }, clock.monotonic())
  // Nobody waits: the caller is told when to come back, and holds no connection meanwhile.
  return tenant => {
    const waitMs = takeToken(rate, tenant, clock.monotonic())
    if (waitMs > 0)
      throw new Refusal('intake-limited', {
        detail: `At most ${intakePerSecond} requests a second may bring tasks, shared by all tenants; a batch is one request.`,
        headers: comeBackAfter(waitMs, random()),
      })
  }
}
