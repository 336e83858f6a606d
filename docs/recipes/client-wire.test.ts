import assert from 'node:assert/strict'
import type {
  Attempt,
  BatchResult,
  Cause,
  Control,
  ControlState,
  CountersEvent,
  Destination,
  ControlEvent,
  ReplayEvent,
  DestinationEvent,
  Explanation,
  GapEvent,
  PolicyVersion,
  ProblemCode,
  ProblemDetails,
  Replay,
  ReplayInput,
  RetryTask,
  RetryTaskInput,
  Series,
  TaskEvent,
  TaskFilter,
} from '@secondwind/client'
import { describe, it, vi } from 'vitest'
import { readPage } from './pages.ts'
import { aService } from './service.test-kit.ts'

// A real service: as long as the machine takes.
vi.setConfig({ testTimeout: 60_000 })

/** Every field of a type, and whether it is always there: the compiler sees that none is missing or made up. */
type Fields<T> = { readonly [field in keyof T]-?: object extends Pick<T, field> ? 'perhaps' : 'always' }

const SHAPES: {
  readonly Attempt: Fields<Attempt>
  readonly BatchResult: Fields<BatchResult>
  readonly Cause: Fields<Cause>
  readonly Control: Fields<Control>
  readonly ControlState: Fields<ControlState>
  readonly CountersEvent: Fields<CountersEvent>
  readonly Destination: Fields<Destination>
  readonly ControlEvent: Fields<ControlEvent>
  readonly ReplayEvent: Fields<ReplayEvent>
  readonly DestinationEvent: Fields<DestinationEvent>
  readonly Explanation: Fields<Explanation>
  readonly GapEvent: Fields<GapEvent>
  readonly Problem: Fields<ProblemDetails>
  readonly Replay: Fields<Replay>
  readonly ReplayInput: Fields<ReplayInput>
  readonly RetryPolicy: Fields<PolicyVersion>
  readonly RetryTask: Fields<RetryTask>
  readonly RetryTaskInput: Fields<RetryTaskInput>
  readonly Series: Fields<Series>
  readonly TaskEvent: Fields<TaskEvent>
} = {
  Attempt: {
    taskId: 'always',
    generation: 'always',
    attemptNumber: 'always',
    startedAt: 'always',
    durationMs: 'always',
    outcome: 'always',
    responseStatus: 'perhaps',
    errorCode: 'perhaps',
    errorMessage: 'perhaps',
    response: 'perhaps',
  },
  BatchResult: { created: 'always', existing: 'always', refused: 'always', items: 'always' },
  Cause: {
    causeId: 'always',
    tenant: 'always',
    destination: 'always',
    reason: 'always',
    heldBy: 'perhaps',
    responseStatus: 'perhaps',
    errorCode: 'perhaps',
    errorMessage: 'perhaps',
    count: 'always',
    firstAt: 'always',
    lastAt: 'always',
    sampleTaskIds: 'always',
  },
  Control: {
    controlId: 'always',
    tenant: 'perhaps',
    level: 'always',
    scope: 'always',
    reason: 'always',
    expiresAt: 'perhaps',
    createdAt: 'always',
    createdBy: 'always',
    isByOperator: 'always',
    endedAt: 'perhaps',
    endedBy: 'perhaps',
    rampMs: 'perhaps',
    isInForce: 'always',
    version: 'always',
    holds: 'perhaps',
  },
  ControlState: { now: 'always', controls: 'always' },
  Destination: {
    destination: 'always',
    tenant: 'perhaps',
    tenantSettings: 'perhaps',
    tenants: 'perhaps',
    name: 'perhaps',
    settings: 'perhaps',
    operatorSettings: 'perhaps',
    breaker: 'perhaps',
    hold: 'perhaps',
    kindHolds: 'perhaps',
    limit: 'perhaps',
    credit: 'perhaps',
    nextProbeAt: 'perhaps',
    budgetBalance: 'perhaps',
    inFlight: 'always',
    backlog: 'always',
    oldestDueAt: 'perhaps',
    succeeded: 'always',
    exhausted: 'always',
    cancelled: 'always',
    attempts: 'always',
    retryShare: 'always',
    amplification: 'perhaps',
    recent: 'perhaps',
    lastFailure: 'perhaps',
  },
  CountersEvent: { at: 'always', tasks: 'always', isExact: 'always', lastSecond: 'always' },
  ControlEvent: {
    at: 'always',
    tenant: 'perhaps',
    controlId: 'always',
    level: 'always',
    scope: 'always',
    reason: 'always',
    expiresAt: 'perhaps',
    createdAt: 'always',
    createdBy: 'always',
    isByOperator: 'always',
    endedAt: 'perhaps',
    endedBy: 'perhaps',
    rampMs: 'perhaps',
    isInForce: 'always',
    version: 'always',
  },
  ReplayEvent: {
    at: 'always',
    tenant: 'perhaps',
    replayId: 'always',
    status: 'always',
    statusSince: 'always',
    ratePerSecond: 'always',
    selected: 'always',
    counts: 'always',
    waitsFor: 'perhaps',
    waitsForRoom: 'perhaps',
    stopped: 'perhaps',
    endedFor: 'perhaps',
  },
  DestinationEvent: { at: 'always', tenant: 'perhaps', destination: 'always', breaker: 'always', hold: 'perhaps' },
  GapEvent: { because: 'always', missed: 'perhaps' },
  Series: { resolution: 'always', destination: 'perhaps', slots: 'always' },
  TaskEvent: {
    at: 'always',
    tenant: 'perhaps',
    taskId: 'always',
    destination: 'always',
    status: 'always',
    attemptNumber: 'always',
    nextAttemptAt: 'perhaps',
    reason: 'perhaps',
    outcome: 'perhaps',
    responseStatus: 'perhaps',
    errorCode: 'perhaps',
  },
  Explanation: {
    taskId: 'always',
    status: 'always',
    explanation: 'always',
    nextAttemptAt: 'perhaps',
    hold: 'perhaps',
  },
  Problem: {
    type: 'always',
    title: 'always',
    status: 'always',
    detail: 'always',
    code: 'always',
    problems: 'perhaps',
    taskId: 'perhaps',
    taskStatus: 'perhaps',
    requestId: 'always',
  },
  Replay: {
    replayId: 'always',
    status: 'always',
    statusSince: 'always',
    filter: 'always',
    include: 'always',
    ratePerSecond: 'always',
    canary: 'always',
    stopOnFailureRate: 'always',
    overLast: 'always',
    reason: 'perhaps',
    createdBy: 'always',
    asOf: 'always',
    selected: 'always',
    skipped: 'always',
    destinations: 'always',
    hasMoreDestinations: 'always',
    counts: 'always',
    rateNow: 'always',
    version: 'always',
    waitsFor: 'perhaps',
    waitsForRoom: 'perhaps',
    stopped: 'perhaps',
    endedFor: 'perhaps',
    newSince: 'perhaps',
  },
  ReplayInput: {
    filter: 'always',
    ratePerSecond: 'always',
    canary: 'perhaps',
    stopOnFailureRate: 'perhaps',
    overLast: 'perhaps',
    include: 'perhaps',
    reason: 'perhaps',
  },
  RetryPolicy: {
    policyId: 'always',
    version: 'always',
    createdAt: 'always',
    maxAttempts: 'always',
    backoffType: 'always',
    initialDelayMs: 'always',
    multiplier: 'always',
    minDelayMs: 'always',
    maxDelayMs: 'always',
    delaysMs: 'perhaps',
    totalBudgetMs: 'always',
    attemptTimeoutMs: 'always',
    jitterType: 'always',
    jitterRatio: 'always',
    retryableStatusCodes: 'always',
    inProcess: 'perhaps',
  },
  RetryTask: {
    taskId: 'always',
    tenant: 'always',
    status: 'always',
    attemptNumber: 'always',
    nextAttemptAt: 'perhaps',
    waits: 'perhaps',
    reason: 'perhaps',
    heldBy: 'perhaps',
    heldSince: 'perhaps',
    endedAt: 'perhaps',
    cancelRequested: 'perhaps',
    lastAttempt: 'perhaps',
    targetUrl: 'always',
    method: 'always',
    headers: 'always',
    bodyBytes: 'perhaps',
    bodyRef: 'perhaps',
    destination: 'always',
    policyId: 'always',
    policyVersion: 'always',
    policy: 'perhaps',
    idempotencyKey: 'always',
    createdAt: 'always',
    expiresAt: 'always',
    deadlineAt: 'perhaps',
    generation: 'always',
    metadata: 'perhaps',
    callbackUrl: 'perhaps',
    createdBy: 'perhaps',
    version: 'always',
    note: 'perhaps',
  },
  RetryTaskInput: {
    targetUrl: 'always',
    method: 'perhaps',
    headers: 'perhaps',
    body: 'perhaps',
    bodyBase64: 'perhaps',
    bodyRef: 'perhaps',
    policyId: 'perhaps',
    policy: 'perhaps',
    idempotencyKey: 'perhaps',
    delayMs: 'perhaps',
    notBefore: 'perhaps',
    deadlineAt: 'perhaps',
    attemptsMade: 'perhaps',
    elapsedMs: 'perhaps',
    metadata: 'perhaps',
    callbackUrl: 'perhaps',
  },
}

const CODES: { readonly [code in ProblemCode]: true } = {
  'invalid-request': true,
  'bad-json': true,
  'bad-http': true,
  'invalid-cursor': true,
  'no-index': true,
  'foreign-host': true,
  'foreign-origin': true,
  'route-not-found': true,
  'task-not-found': true,
  'body-not-found': true,
  'body-damaged': true,
  'policy-not-found': true,
  'replay-not-found': true,
  'control-not-found': true,
  'destination-not-found': true,
  'name-taken': true,
  'write-conflict': true,
  'too-many': true,
  'scope-missing': true,
  'key-missing': true,
  'key-not-found': true,
  'key-unknown': true,
  'last-admin': true,
  'secret-exists': true,
  'secret-not-found': true,
  'tenant-exists': true,
  'tenant-forbidden': true,
  'tenant-not-found': true,
  'intake-off': true,
  draining: true,
  'method-not-allowed': true,
  'not-acceptable': true,
  'request-timeout': true,
  'wrong-status': true,
  'wrong-replay-status': true,
  'version-changed': true,
  'body-too-large': true,
  'batch-too-large': true,
  'url-too-long': true,
  'unsupported-media-type': true,
  'idempotency-conflict': true,
  'target-forbidden': true,
  'backlog-full': true,
  'bodies-full': true,
  'intake-limited': true,
  'too-many-replays': true,
  'headers-too-large': true,
  'internal-error': true,
  'too-many-requests': true,
  'too-many-listeners': true,
  'not-ready': true,
  'store-full': true,
  'store-read-only': true,
  'store-corrupt': true,
  'store-closed': true,
  'store-in-use': true,
  'store-unreachable': true,
}

const FILTER: Fields<TaskFilter> = {
  status: 'perhaps',
  destination: 'perhaps',
  policyId: 'perhaps',
  idempotencyKey: 'perhaps',
  attemptFrom: 'perhaps',
  errorCode: 'perhaps',
  createdFrom: 'perhaps',
  createdTo: 'perhaps',
  endedFrom: 'perhaps',
  endedTo: 'perhaps',
}

interface OpenApi {
  readonly components: { readonly schemas: { readonly [name: string]: ObjectSchema } }
  readonly paths: { readonly [path: string]: { readonly get: { readonly parameters: readonly { name: string }[] } } }
}

interface ObjectSchema {
  readonly properties: { readonly [field: string]: { readonly enum?: readonly string[] } }
  readonly required?: readonly string[]
}

describe("the client's types of what goes over the wire", () => {
  it("have exactly the fields of the service's own document, and no others", async () => {
    const { url } = await aService()
    const { components, paths } = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApi
    const described = Object.keys(SHAPES).map(name => {
      const { properties, required = [] } = components.schemas[name]!
      const fields = Object.keys(properties).map(field => [field, required.includes(field) ? 'always' : 'perhaps'])
      return [name, Object.fromEntries(fields)]
    })
    assert.deepEqual(Object.fromEntries(described), SHAPES)
    assert.deepEqual(components.schemas['Problem']!.properties['code']!.enum?.toSorted(), Object.keys(CODES).toSorted())
    const asked = paths['/retry-tasks']!.get.parameters.map(({ name }) => name)
    assert.deepEqual(asked.toSorted(), [...Object.keys(FILTER), 'cursor', 'limit'].toSorted())
  })
  it('name no code that the page of errors leaves out', () => {
    const [, errors] = readPage('docs/api.md').split('\n## Errors\n')
    assert.deepEqual(
      Object.keys(CODES).filter(code => !errors!.includes(`\`${code}\``)),
      [],
    )
  })
})
