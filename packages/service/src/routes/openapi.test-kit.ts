/** An OpenAPI document as a source of requests and as a judge of answers. */
import fc, { type Arbitrary } from 'fast-check'
import { Check, Errors } from 'typebox/schema'

export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly JsonSchema[]
  readonly properties?: { readonly [name: string]: JsonSchema }
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | JsonSchema
  readonly propertyNames?: JsonSchema
  readonly maxProperties?: number
  readonly items?: JsonSchema
  readonly minItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly examples?: readonly unknown[]
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly schema: JsonSchema
}

interface Content {
  readonly [type: string]: { readonly schema: JsonSchema; readonly example?: unknown }
}

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: { readonly [status: string]: { readonly description: string; readonly content: Content } }
}

export interface OpenApi {
  readonly openapi: string
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } }
  readonly components: { readonly schemas: { readonly [name: string]: JsonSchema } }
}

export function operationsOf({ paths }: OpenApi): { path: string; method: string; operation: Operation }[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
}

/** The schema with every reference replaced by what it refers to. */
export function resolved(schema: JsonSchema, document: OpenApi): JsonSchema {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace('#/components/schemas/', '')
    return resolved(document.components.schemas[name]!, document)
  }
  const inside = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inside)
    return typeof value === 'object' && value !== null ? resolved(value, document) : value
  }
  const { examples, ...rest } = schema
  return {
    ...Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, inside(value)])),
    ...(examples && { examples }),
  }
}

/** What is wrong with a value, counting every field that is not described. */
export function faultsOf(value: unknown, schema: JsonSchema): unknown[] {
  const strict = closed(schema)
  return Check(strict, value) ? [] : Errors(strict, value)[1]
}

function closed(schema: JsonSchema): JsonSchema {
  const inside = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inside)
    return typeof value === 'object' && value !== null ? closed(value) : value
  }
  const { examples: _, ...rest } = schema
  const copy = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, inside(value)])) as JsonSchema
  return schema.type === 'object' && schema.additionalProperties === undefined
    ? { ...copy, additionalProperties: false }
    : copy
}

/** Values that a schema takes. `known` has those of fields that must be more than their schema says. */
export function valuesOf(
  schema: JsonSchema,
  known: { readonly [name: string]: Arbitrary<unknown> } = {},
): Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum)
  switch (schema.type) {
    case 'string':
      return textsOf(schema)
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 1_000 })
    case 'number':
      return fc.double({ min: 1, max: 10, noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(valuesOf(schema.items!, known), { minLength: schema.minItems ?? 0, maxLength: 4 })
    case 'object':
      return objectsOf(schema, known)
    case undefined:
    default:
      return fc.jsonValue({ maxDepth: 1 })
  }
}

function textsOf({ pattern, minLength = 0, maxLength = 20 }: JsonSchema): Arbitrary<string> {
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern))
  return fc.string({ minLength, maxLength: Math.min(maxLength, 20), unit: 'binary' })
}

function objectsOf(schema: JsonSchema, known: { readonly [name: string]: Arbitrary<unknown> }): Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties, propertyNames, maxProperties = 5 } = schema
  if (Object.keys(properties).length === 0 && typeof additionalProperties === 'object')
    return fc.dictionary(textsOf(propertyNames ?? { minLength: 1 }), valuesOf(additionalProperties, known), {
      maxKeys: Math.min(maxProperties, 3),
    })
  const fields = Object.entries(properties).map(([name, each]) => [name, known[name] ?? valuesOf(each, known)])
  return fc.record(Object.fromEntries(fields), { requiredKeys: required as never[] })
}

/** A value that is right but for one thing, or for everything. */
export function brokenOf(values: Arbitrary<unknown>): Arbitrary<unknown> {
  const junk = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom(null, -1, 2 ** 60, '', '\ud800', '\0', [], {}, 'x'.repeat(9_000)),
  )
  return fc.oneof(
    junk,
    fc.tuple(values, fc.string({ minLength: 1 }), junk, fc.nat()).map(([value, name, wrong, pick]) => {
      if (typeof value !== 'object' || value === null) return wrong
      const names = Object.keys(value)
      // One field in two is one that is there already.
      const field = names.length > 0 && pick % 2 === 0 ? names[(pick >> 1) % names.length]! : name
      return { ...value, [field]: wrong }
    }),
  )
}
