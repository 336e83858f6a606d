import type { PolicyVersion } from '@secondwind/client'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  MOST_POLICIES,
  MOST_VERSIONS,
  type PolicyBook,
  type PolicyName,
  type PolicyRecord,
} from '../../policies/policy-book.ts'
import type { Page } from '../../stores/store.ts'
import { Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { lineBy } from '../requests/audit-line.ts'
import { bindCursor, openCursor } from '../requests/bound-cursor.ts'
import { callerOf } from '../requests/door.ts'
import { etagOf, IF_MATCH, ifVersionAsked, otherVersion } from '../requests/if-match.ts'
import { didYouMean } from '../requests/near-words.ts'
import { readNumbers } from '../requests/query.ts'
import { bodyErrors, invalid } from '../requests/validation.ts'
import { answer, refusals } from '../schemas/answers.ts'
import { operation } from '../schemas/operation.ts'
import { DEFAULT_PAGE, pageFields, policyIdField, type PageQuery } from '../schemas/fields.ts'
import { component, pageOf, parameters } from '../schemas/schema.ts'
import { readNamedPolicy, type NamedPolicy } from './read-policy.ts'

const POLICY = component('RetryPolicy')
const PAGE_QUERY = parameters({ ...pageFields })
const WITH_VERSION = { etag: 'Its version.' }
const POLICY_PATH = parameters({ policyId: policyIdField })

interface OnePolicy {
  readonly Params: { readonly policyId: string }
  readonly Querystring: PageQuery
}

export function addPolicies(api: FastifyInstance, { policies }: ApiContext): void {
  api.post(
    '/retry-policies',
    {
      attachValidation: true,
      schema: operation({
        operationId: 'putPolicy',
        scope: 'admin',
        summary: 'Keep a policy under its name; another document becomes its next version',
        tags: ['policies'],
        querystring: parameters({}),
        headers: IF_MATCH,
        body: component('RetryPolicyInput'),
        response: {
          201: answer(POLICY, 'A new policy, or a new version of one.', {
            location: 'Where it can be read.',
            ...WITH_VERSION,
          }),
          200: answer(POLICY, 'The same document is there already.', WITH_VERSION),
          ...refusals(408, 412, 413, 415, 431),
        },
      }),
    },
    async (request, reply) => {
      // What a schema finds in a document the library finds as well, and says it better; elsewhere it counts.
      bodyErrors(request)
      const document = readNamed(request.body)
      const { policyId } = document
      const caller = callerOf(request)
      const name = { tenant: caller.tenant, policyId }
      const audit = lineBy(caller, { tenant: caller.tenant, action: 'policy.put', subject: policyId })
      const put = await policies.put({ ...name, document, audit, ...ifVersionAsked(request) })
      if (put.kind === 'conflict') throw otherVersion(put.record?.version ?? 0)
      if (put.kind === 'full') throw tooMany(policyId, put)
      if (put.kind !== 'same') void reply.code(201).header('location', `/retry-policies/${policyId}`)
      return sendPolicy(reply, put.record)
    },
  )

  api.get<{ Querystring: PageQuery }>(
    '/retry-policies',
    {
      preValidation: readNumbers(PAGE_QUERY),
      schema: operation({
        operationId: 'listPolicies',
        scope: 'read',
        summary: 'The newest version of every policy, by name',
        tags: ['policies'],
        querystring: PAGE_QUERY,
        response: { 200: answer(pageOf(POLICY), 'A page.'), ...refusals() },
      }),
    },
    async (request, reply) => {
      const { cursor, limit = DEFAULT_PAGE } = request.query
      const { tenant } = callerOf(request)
      const asked = { kind: 'policy', tenant }
      const page = await policies.list({ tenant, limit, ...openCursor(cursor, asked) })
      return reply.send(policyPage(bindCursor(page, asked)))
    },
  )

  api.get<OnePolicy>(
    '/retry-policies/:policyId',
    {
      schema: operation({
        operationId: 'getPolicy',
        scope: 'read',
        summary: 'The newest version of a policy',
        tags: ['policies'],
        params: POLICY_PATH,
        querystring: parameters({}),
        response: { 200: answer(POLICY, 'The policy.', WITH_VERSION), ...refusals(404) },
      }),
    },
    async (request, reply) => {
      const name = nameOf(request)
      const record = await policies.newest(name)
      if (record === undefined) throw await unknownPolicy(name, policies)
      return sendPolicy(reply, record)
    },
  )

  api.get<OnePolicy>(
    '/retry-policies/:policyId/versions',
    {
      preValidation: readNumbers(PAGE_QUERY),
      schema: operation({
        operationId: 'listPolicyVersions',
        scope: 'read',
        summary: 'All versions of a policy, the newest first',
        tags: ['policies'],
        params: POLICY_PATH,
        querystring: PAGE_QUERY,
        response: { 200: answer(pageOf(POLICY), 'A page.'), ...refusals(404) },
      }),
    },
    async (request, reply) => {
      const name = nameOf(request)
      const { cursor, limit = DEFAULT_PAGE } = request.query
      const asked = { kind: 'policy-version', ...name }
      const page = await policies.versions({ ...name, limit, ...openCursor(cursor, asked) })
      if (page.items.length === 0 && (await policies.newest(name)) === undefined)
        throw await unknownPolicy(name, policies)
      return reply.send(policyPage(bindCursor(page, asked)))
    },
  )
}

function tooMany(policyId: string, { record }: { readonly record?: PolicyRecord }): Refusal {
  return new Refusal('too-many', {
    detail:
      record === undefined
        ? `There are ${MOST_POLICIES} policies already: change one of them, or send the policy with the task.`
        : `${policyId} has ${MOST_VERSIONS} versions already: keep the policy under another name.`,
  })
}

/** A document that can be kept: right in itself, and with a name. */
function readNamed(body: unknown): NamedPolicy {
  const { policy, problems } = readNamedPolicy(body)
  if (policy === undefined) throw invalid('policy', problems)
  return policy
}

function nameOf(request: FastifyRequest<OnePolicy>): PolicyName {
  return { tenant: callerOf(request).tenant, policyId: request.params.policyId }
}

async function unknownPolicy({ tenant, policyId }: PolicyName, policies: PolicyBook): Promise<Refusal> {
  const meant = didYouMean(policyId, await policies.names(tenant))
  return new Refusal('policy-not-found', { detail: `No policy is called ${policyId}${meant || '.'}` })
}

function sendPolicy(reply: FastifyReply, record: PolicyRecord): FastifyReply {
  return reply.header('etag', etagOf(record.version)).send(policyView(record))
}

function policyView({ policyId, version, document, createdAt }: PolicyRecord): PolicyVersion {
  return { ...document, policyId, version, createdAt }
}

function policyPage({ items, nextCursor }: Page<PolicyRecord>): Page<PolicyVersion> {
  return { items: items.map(policyView), ...(nextCursor !== undefined && { nextCursor }) }
}
