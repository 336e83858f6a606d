/** What to type after each way in which the service says no. Without a line the command's own help is proposed. */
import type { ServiceError, ServiceErrorCode, TaskStatus } from '@secondwind/client'
import { retyped, typed as typedAnywhere } from '../input/typed.ts'
import { freePath } from '../output/output-file.ts'
import { CONNECTION_OPTIONS } from './connection.ts'
import type { RemoteCall } from './remote-command.ts'

export type Asked = Pick<RemoteCall, 'url' | 'hasKey' | 'typed' | 'words' | 'args' | 'options'> & {
  /** Whose the key is that was refused, where that is known and not the usual one. */
  readonly keyTenant?: string | undefined
}

type Lines = (asked: Asked, error: ServiceError) => readonly string[]

/** Whatever a newer service may say: `doctor` looks at all of it. */
export function nextLines(error: ServiceError, asked: Asked): readonly string[] {
  const lines = Object.hasOwn(NEXT, error.code) ? NEXT[error.code] : doctor
  return lines(asked, error)
}

const help: Lines = () => []
const doctor: Lines = ({ typed }) => [typed('doctor')]
const again: Lines = ({ words }) => [typedAnywhere(words)]
const show =
  (...words: readonly string[]): Lines =>
  ({ typed }) => [typed(...words)]

const anotherKey: Lines = ({ typed }) => ['export SECONDWIND_KEY="$(cat your-key-file)"', typed('doctor')]

/** The key is known, and may not do this: one that may has to be made by whoever may make keys. */
const widerKey: Lines = ({ url, keyTenant }, { detail }) => {
  const [, scope, known = ''] = /\bscope ([\w-]+);(?: this one has ([\w, -]+))?/.exec(detail) ?? []
  if (scope === undefined) return ['export SECONDWIND_KEY="$(cat an-operators-key-file)"']
  // With what this one may: a command can need both.
  const scopes = [...known.split(', ').filter(one => one !== '' && one !== 'none'), scope]
  const flags = [
    ...scopes.flatMap(one => ['--scope', one]),
    ...(keyTenant === undefined ? [] : ['--tenant', keyTenant]),
  ]
  return [typedAnywhere(['keys', 'create', ...flags, '--url', url, '--key-file', 'an-admins-key-file'])]
}

/** Without the tenant that is wrong. */
const tenants: Lines = ({ options }) => [
  typedAnywhere(['tenants', 'list', ...retyped({ ...options, tenant: undefined }, CONNECTION_OPTIONS)]),
]

const taskInTheWay: Lines = ({ typed }, { taskId, taskStatus }) => {
  if (taskId === undefined) return [typed('tasks', 'list')]
  return [typed('tasks', taskStatus === undefined ? 'get' : BY_TASK_STATUS[taskStatus], taskId)]
}

/** What can be done with a task that is not in the status that was asked for. */
const BY_TASK_STATUS: { readonly [status in TaskStatus]: string } = {
  PENDING: 'explain',
  IN_FLIGHT: 'watch',
  SUCCEEDED: 'get',
  EXHAUSTED: 'replay',
  CANCELLED: 'get',
}

/** For whoever runs the service: it says itself which place that is, for a target and for a callback. */
const allowTarget: Lines = (_, { detail }) => {
  const [, place] = /--allow-target (\S+?)\.?(?=\s|$)/.exec(detail) ?? []
  return [place === undefined ? 'secondwind serve --help' : typedAnywhere(['serve', '--allow-target', place])]
}

/** What is too large for a task's own row is uploaded by itself, and named. */
const uploaded: Lines = ({ typed, options: { body } }) =>
  typeof body === 'string' && body.startsWith('@') ? [typed('bodies', 'put', body.slice(1))] : []

const replayInTheWay: Lines = ({ typed, args }) => [typed('replay', 'status', String(args[0]))]

/** Whoever has a key already has written it somewhere, and no key is written over another. */
const adminFirst: Lines = ({ typed, hasKey }) => {
  const [name, file] = hasKey ? ['second', 'second-admin.key'] : ['first', 'admin.key']
  return [typed('keys', 'create', '--operator', '--scope', 'admin', '--name', name, '--write', freePath(file))]
}

const NEXT: { readonly [code in ServiceErrorCode]: Lines } = {
  'invalid-request': help,
  'bad-json': help,
  'bad-http': help,
  'invalid-cursor': help,
  'no-index': help,
  'method-not-allowed': help,
  'not-acceptable': help,
  'url-too-long': help,
  'headers-too-large': help,
  'unsupported-media-type': help,
  'body-too-large': uploaded,
  'batch-too-large': help,
  'key-missing': anotherKey,
  'key-unknown': anotherKey,
  'scope-missing': widerKey,
  'tenant-forbidden': widerKey,
  'foreign-host': doctor,
  'foreign-origin': doctor,
  'route-not-found': doctor,
  'task-not-found': show('tasks', 'list'),
  'body-not-found': show('bodies', 'put', 'your-file'),
  'body-damaged': help,
  'tenant-not-found': tenants,
  'key-not-found': show('keys', 'list'),
  'secret-not-found': show('secrets', 'list'),
  'control-not-found': show('kill', 'status'),
  'destination-not-found': show('destinations', 'list'),
  'policy-not-found': show('policies', 'list'),
  'replay-not-found': show('replay', 'list'),
  'name-taken': show('destinations', 'list'),
  'write-conflict': again,
  'version-changed': again,
  'wrong-status': taskInTheWay,
  'idempotency-conflict': taskInTheWay,
  'wrong-replay-status': replayInTheWay,
  'tenant-exists': tenants,
  'secret-exists': show('secrets', 'list'),
  'last-admin': adminFirst,
  'target-forbidden': allowTarget,
  'too-many': doctor,
  'too-many-replays': show('replay', 'list'),
  'too-many-requests': again,
  'too-many-listeners': doctor,
  'backlog-full': show('destinations', 'list'),
  'bodies-full': doctor,
  'intake-limited': doctor,
  'request-timeout': again,
  'internal-error': doctor,
  'intake-off': show('kill', 'status'),
  draining: show('destinations', 'list'),
  'not-ready': doctor,
  'store-full': doctor,
  'store-read-only': doctor,
  'store-corrupt': doctor,
  'store-closed': doctor,
  'store-in-use': doctor,
  'store-unreachable': doctor,
  'unexpected-answer': doctor,
  'answer-too-large': doctor,
}

/** Every code that has an answer here. */
export const ANSWERED_CODES: readonly ServiceErrorCode[] = Object.keys(NEXT) as ServiceErrorCode[]
