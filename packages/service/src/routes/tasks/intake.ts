/** From what a caller asked for to a task that the store can take: an order that is right, or every problem at once. */
import type { Problem } from '@secondwind/resilience'
import { check } from '@secondwind/resilience/rules'
import { newTaskId } from '../../task/lane.ts'
import type { PolicyBook } from '../../policies/policy-book.ts'
import { storeTimeAt } from '../../stores/store-clock.ts'
import type { BodyRecord } from '../../stores/store.ts'
import { isCallbackKey } from '../../task/callback.ts'
import { accept, INLINE_POLICY, type NewTask, type PolicyInForce } from '../../task/accept.ts'
import type { TaskRequest } from '../../task/task.ts'
import { Refusal, sentence } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import type { AskedPolicies } from '../policies/asked-policies.ts'
import { DEFAULT_POLICY_ID, readPolicy } from '../policies/read-policy.ts'
import { requestHash } from '../request-hash.ts'
import { isWellFormed } from '../requests/well-formed.ts'
import { IDEMPOTENCY_KEY, type TaskInput } from '../schemas/task-input.ts'
import { refuseClosedIntake } from './closed-intake.ts'
import { contradictions } from './contradictions.ts'
import { FOUND_WRONG, refuseWrong, right, sure, valueOf, wrong, type Read } from './read.ts'
import { findBody, readBody } from './target-body.ts'
import { readHeaders, type Headers } from './target-headers.ts'
import type { ReadTargetUrl, TargetUrl } from './target-url.ts'

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
