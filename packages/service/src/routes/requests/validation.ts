/** What schemas check, and how its findings become a refusal. */
import type { Problem } from '@secondwind/resilience'
import type { FastifyRequest, FastifySchemaValidationError } from 'fastify'
import { Refusal } from '../answers/refusal.ts'
import { problemsOfShape, type ShapeError } from './shape.ts'

/** For ajv: nothing is dropped, nothing is made of something else, every error is told with what it was found in. */
export const AJV_OPTIONS: { readonly [option: string]: unknown } = {
  removeAdditional: false,
  coerceTypes: false,
  useDefaults: false,
  allErrors: true, // what is checked is never overgrown
  verbose: true,
  keywords: ['x-takes'],
}

/** A request that a schema refused, as fastify tells of it. */
export interface InvalidRequest {
  readonly validation: readonly FastifySchemaValidationError[]
  readonly validationContext?: string | undefined
}

const PARTS: { readonly [context: string]: string } = {
  body: 'body',
  querystring: 'query',
  params: 'path',
  headers: 'head of the request',
}

export function refusalOfShape({ validation, validationContext = 'body' }: InvalidRequest): Refusal {
  const kind = validationContext === 'body' ? 'field' : 'parameter'
  return invalid(PARTS[validationContext]!, problemsOfShape(validation, { kind }))
}

export function invalid(part: string, problems: NonNullable<Refusal['parts']['problems']>): Refusal {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`
  return new Refusal('invalid-request', { detail: `The ${part} has ${count}.`, problems })
}

/** Throws what the schema found in the body of such a route, and what rules find where the schema found nothing, together. */
export function refuseWrongBody(request: FastifyRequest, rules: readonly Problem[]): void {
  const shape = problemsOfShape(bodyErrors(request), { kind: 'field' })
  const told = new Set(shape.map(({ at }) => at))
  const problems = [...shape, ...rules.filter(({ at }) => !told.has(at))]
  if (problems.length > 0) throw invalid('body', problems)
}

/** What the schema found in the body, of a route that goes on all the same. Throws what it found elsewhere. */
export function bodyErrors({ validationError }: FastifyRequest): readonly ShapeError[] {
  if (validationError === undefined) return []
  const { validation, validationContext } = validationError
  if (validationContext !== 'body') throw refusalOfShape({ validation, validationContext })
  return validation
}
