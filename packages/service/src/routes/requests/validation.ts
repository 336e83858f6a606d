/**
 * What a schema finds wrong, in the words of the checks in the library: where, the value found, and a right value; and the
 * refusal that says so.
 */
import type { Problem } from '@secondwind/resilience'
import type { FastifyRequest, FastifySchemaValidationError } from 'fastify'
import { Refusal } from '../answers/refusal.ts'
import { check } from '@secondwind/resilience/rules'
import { didYouMean } from './near-words.ts'

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

/** An error of ajv in its verbose form, as far as it is read here. */
export interface ShapeError {
  readonly instancePath: string
  readonly keyword: string
  readonly params: { readonly [name: string]: unknown }
  readonly data?: unknown
  readonly parentSchema?: ShapeSchema
}

/** A schema's own words for what it takes stand in `x-takes`: a pattern says nothing to people. */
export interface ShapeSchema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly properties?: { readonly [name: string]: unknown }
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly 'x-takes'?: string
}

export interface ShapeWords {
  /** What a name is called that nobody knows: a field, or a parameter. */
  readonly kind: 'field' | 'parameter'
  /** Words that other services use, and what to use instead. */
  readonly others?: check.WrongWords
}

/** One problem for each place: a text that is too short and does not match is wrong once. */
export function problemsOfShape(errors: readonly ShapeError[], words: ShapeWords): Problem[] {
  if (errors.length === 0) return []
  const problems = new Map<string, Problem>()
  for (const error of errors) {
    const problem = problemOf(error, words, problems.size < MOST_GUESSES)
    if (!problems.has(problem.at)) problems.set(problem.at, problem)
  }
  return [...problems.values()]
}

/** What was meant is looked for among all names, and costs more than all else: whoever has more wrong ones has no typos. */
const MOST_GUESSES = 20

/** What every request may say, but in its head. */
const ELSEWHERE: check.WrongWords = { tenant: 'the header Secondwind-Tenant' }

function problemOf(error: ShapeError, { kind, others = {} }: ShapeWords, mayGuess: boolean): Problem {
  const { keyword, params, data, parentSchema = {} } = error
  const at = pathOf(error.instancePath)
  switch (keyword) {
    case 'required':
      return { at: join(at, String(params['missingProperty'])), is: undefined, say: 'must be given' }
    case 'additionalProperties': {
      const name = String(params['additionalProperty'])
      const meant = mayGuess
        ? didYouMean(name, Object.keys(parentSchema.properties ?? {}), at === '' ? { ...ELSEWHERE, ...others } : {})
        : ''
      return { at: join(at, name), is: memberOf(data, name), say: `is an unknown ${kind}${meant}` }
    }
    default:
      return { at, is: data, say: sayWanted(parentSchema, data, kind) }
  }
}

function sayWanted(schema: ShapeSchema, value: unknown, kind: ShapeWords['kind']): string {
  // A parameter that is given twice is read as a list.
  if (kind === 'parameter' && Array.isArray(value)) return 'must be given once'
  const meant = schema.enum && typeof value === 'string' ? didYouMean(value, schema.enum) : ''
  return `must be ${wanted(schema)}${meant}`
}

function wanted(schema: ShapeSchema): string {
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER, maxLength, minItems = 0, maxItems, maxProperties } = schema
  if (schema['x-takes'] !== undefined) return schema['x-takes']
  if (schema.enum) return check.oneOf(...schema.enum)(undefined)!
  switch (schema.type) {
    case 'string':
      if (maxLength === undefined) return 'a text'
      return schema.minLength === 1 ? check.text(maxLength)(undefined)! : `a text of at most ${maxLength} characters`
    case 'integer':
      return check.wholeNumber(minimum, maximum)(undefined)!
    case 'number':
      return check.numberBetween(minimum, maximum)(undefined)!
    case 'boolean':
      return check.flag(undefined)!
    case 'array':
      return maxItems === undefined ? 'a list' : `a list of ${minItems} to ${maxItems} entries`
    case 'object':
      return maxProperties === undefined ? 'an object' : `an object with at most ${maxProperties} entries`
    case undefined:
    default:
      return 'something else'
  }
}

/** `/headers/x-a` → `headers.x-a`. */
function pathOf(instancePath: string): string {
  const steps = instancePath.split('/').slice(1)
  return steps.map(step => step.replaceAll('~1', '/').replaceAll('~0', '~')).join('.')
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

function memberOf(value: unknown, name: string): unknown {
  return check.isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
}
