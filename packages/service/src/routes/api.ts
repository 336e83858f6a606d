import { fastify, LogController, type FastifyInstance } from 'fastify'
import { addAudit } from './access/audit.ts'
import { addKeys } from './access/keys.ts'
import { addSecrets } from './access/secrets.ts'
import { addTenants } from './access/tenants.ts'
import {
  answerBrokenRequest,
  answerConnect,
  answerExpectation,
  answerLine,
  asLine,
  createErrorHandler,
  drainRefused,
  sendRefusal,
} from './answers/error-handler.ts'
import { RefusalLog } from './answers/refusal-log.ts'
import { KnownRoutes } from './answers/unknown-route.ts'
import { addBodies } from './bodies/body-routes.ts'
import { closeInTime } from './closing.ts'
import type { ApiContext } from './context.ts'
import { addDeadLetters } from './dead-letters.ts'
import { addControls } from './controls/control-routes.ts'
import { addOneDestination } from './destinations/destination-routes.ts'
import { addDestinations } from './destinations/list-destinations.ts'
import { addOpenApi, describeApi } from './openapi.ts'
import { addPolicies } from './policies/policy-routes.ts'
import { addReplays } from './replays/replay-routes.ts'
import { createRequestIds, foreign, guardJsonRequests, guardRequests, knowCallers } from './requests/door.ts'
import { boundConnections } from './requests/connections.ts'
import { openGate } from './requests/gate.ts'
import { readJsonBodies } from './requests/json-body.ts'
import { AJV_OPTIONS } from './requests/validation.ts'
import { addMetrics, addServiceState } from './service-state.ts'
import { createIntakeLimit, createSharedTurn } from './tasks/intake.ts'
import { addTaskLists } from './tasks/lists.ts'
import { addOneTask } from './tasks/one-task.ts'
import { sharingViews } from './tasks/shared-views.ts'
import { addSubmitBatch } from './tasks/submit-batch.ts'
import { addSubmitTask } from './tasks/submit-task.ts'
import { knowingTargetUrls } from './tasks/target.ts'
import { addEvents } from './watching/events.ts'
import { addSeries } from './watching/series.ts'

/** Whoever logs a request by mistake logs no secret of it. */
const NEVER_LOGGED = ['headers', '*.headers', 'body', '*.body']

/** Longer than the minute for which most proxies keep theirs: who closes first must be the one who knows what is under way. */
const KEEP_ALIVE_MS = 65_000

/** More that are sent ahead are refused by Node, which costs less than to admit them. */
const REQUESTS_PER_CONNECTION = 1_000

/** The HTTP API: checks, asks the store, answers. It listens when it is told to. */
export function createApi(setting: ApiContext): FastifyInstance {
  const dispatching = sharingViews(setting.dispatching)
  const context = { ...setting, dispatching }
  const { log, limits, random, clock } = context
  const ids = createRequestIds()
  const lines = new RefusalLog(clock)
  const handleError = createErrorHandler(random, lines)
  const api = fastify({
    logger: { level: log.level, ...(log.stream && { stream: log.stream }), redact: NEVER_LOGGED },
    // A logger for each request would be made for nearly nothing: the lines name the request themselves.
    childLoggerFactory: logger => logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: ({ headers }) => ids.of(headers['x-request-id']),
    // The origin of a destination, percent-encoded.
    routerOptions: { maxParamLength: 512 },
    ajv: { customOptions: AJV_OPTIONS },
    requestTimeout: limits.requestTimeoutMs,
    connectionTimeout: limits.socketTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxRequestsPerSocket: REQUESTS_PER_CONNECTION,
    // Node takes the longer of the two for the whole of a request: they must be the same.
    http: {
      // The guard answers those without a host, in the form of all other answers.
      requireHostHeader: false,
      headersTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: Math.min(5_000, limits.requestTimeoutMs),
    },
    // Those who are here are served to the end; the listener alone is shut.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    frameworkErrors: handleError,
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, { requestId: ids.next(), clock }),
  })
  api.server.on('checkExpectation', (_, response) => answerExpectation(response, ids.next()))
  api.server.on('connect', (_, socket) => answerConnect(socket, { requestId: ids.next(), clock }))
  const routes = new KnownRoutes(api)
  api.setErrorHandler(handleError)
  api.setNotFoundHandler((request, reply) =>
    sendRefusal(foreign(request, context) ?? routes.refusalOf(request), request, reply, lines),
  )
  // A serializer for every answer of every route takes more than a second to make, and writes no faster than this. That
  // nothing is answered but what is described is seen by the tests, which ask every operation.
  api.setSerializerCompiler(() => asLine)
  // What nobody asked for is not even read.
  api.removeAllContentTypeParsers()
  describeApi(api, context)
  knowCallers(api)
  boundConnections(api, context)
  const admit = openGate(api, context)
  if (log.level === 'debug' || log.level === 'trace') logAnswers(api)
  closeInTime(api, context)
  api.addHook('onClose', async () => lines.close())
  drainRefused(api, context.clock)
  addRoutes(api, context, admit)
  return api
}

function addRoutes(api: FastifyInstance, context: ApiContext, admit: (guarded: FastifyInstance) => void): void {
  const { clock, limits, random, practice, policies } = context
  const intake = {
    policies,
    limit: createIntakeLimit(limits, clock, random),
    turn: createSharedTurn(),
    readTargetUrl: knowingTargetUrls(context),
  }
  void api.register(async scope => {
    guardJsonRequests(scope, context)
    admit(scope)
    readJsonBodies(scope)
    addSubmitTask(scope, context, intake)
    addTaskLists(scope, context)
    addOneTask(scope, context, policies)
    addPolicies(scope, context)
    addDeadLetters(scope, context)
    addReplays(scope, context)
    addDestinations(scope, context)
    addSeries(scope, context)
    addTenants(scope, context)
    addKeys(scope, context)
    addSecrets(scope, context)
    addAudit(scope, context)
    addOneDestination(scope, context)
    addControls(scope, context)
    addServiceState(scope, context)
    addOpenApi(scope, context)
    // Only there a line is a task.
    void scope.register(async batches => addSubmitBatch(batches, context, intake))
  })
  void api.register(async scope => {
    guardRequests(scope, context)
    admit(scope)
    addMetrics(scope, context)
    // Only there a body may be anything.
    void scope.register(async raw => addBodies(raw, context, intake))
    addEvents(scope, context)
    practice?.(scope)
  })
}

/** What was refused is logged where it is; what went well is for the curious. */
function logAnswers(api: FastifyInstance): void {
  api.addHook('onResponse', (request, reply, done) => {
    if (reply.statusCode < 400) request.log.debug(answerLine(request, reply), 'answered')
    done()
  })
}
