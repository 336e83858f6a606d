/** What a schema finds wrong, in the words of the library's own checks: where, what stands there, what would be right. */
import type { Problem } from '@secondwind/resilience'
import { check } from '@secondwind/resilience/rules'
import { didYouMean } from './near-words.ts'

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
