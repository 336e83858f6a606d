import { Type, type Static, type TObject, type TSchema, type TUnsafe } from 'typebox'

/** A schema beside the type that is written out for readers: the compiler sees that they agree. */
export type Schema<T> = TUnsafe<T>

export function schemaOf<Shape extends TSchema>(shape: Shape): Schema<Static<Shape>> {
  return Type.Unsafe<Static<Shape>>(shape)
}

/** One of some words. Its type is named as well: a serializer that knows it need not look. */
export function wordOf<Word extends string>(
  words: readonly Word[],
  options: { readonly description?: string; readonly default?: Word } = {},
): Schema<Word> {
  return Type.Unsafe<Word>(Type.Enum([...words], { type: 'string', ...options }))
}

/** The names of a record that the compiler knows to be complete. */
export function namesOf<Name extends string>(record: { readonly [name in Name]: unknown }): Name[] {
  return Object.keys(record) as Name[]
}

export interface TextByNameOptions {
  readonly description: string
  readonly longestText?: number
  readonly longestName?: number
  readonly mostEntries?: number
}

/** An object of texts under any names. Not by a pattern of names: that would let pass what it does not match. */
export function textByName(options: TextByNameOptions): Schema<{ readonly [name: string]: string }> {
  const { description, longestText, longestName, mostEntries } = options
  return Type.Unsafe(
    Type.Object(
      {},
      {
        additionalProperties: Type.String(longestText === undefined ? {} : { maxLength: longestText }),
        ...(longestName !== undefined && { propertyNames: Type.String({ minLength: 1, maxLength: longestName }) }),
        ...(mostEntries !== undefined && { maxProperties: mostEntries }),
        description,
      },
    ),
  )
}

/** Schemas that have a name in the OpenAPI document, and are written there once. */
export type ComponentName =
  | 'Attempt'
  | 'BatchResult'
  | 'Body'
  | 'Cause'
  | 'CountersEvent'
  | 'Control'
  | 'ControlEvent'
  | 'ControlInput'
  | 'ControlState'
  | 'Destination'
  | 'DestinationEvent'
  | 'Explanation'
  | 'GapEvent'
  | 'Problem'
  | 'Replay'
  | 'ReplayEvent'
  | 'ReplayInput'
  | 'RetryPolicy'
  | 'RetryPolicyInput'
  | 'RetryTask'
  | 'RetryTaskInput'
  | 'Series'
  | 'TaskEvent'

export function component(name: ComponentName): Schema<unknown> {
  return Type.Unsafe<unknown>({ $ref: `${name}#` })
}

/** Every list is read in pages: some items, and where the next ones begin; never a count of all. */
export function pageOf(items: TSchema): TSchema {
  return Type.Object({
    items: Type.Array(items),
    nextCursor: Type.Optional(Type.String({ description: 'Where the next page begins; absent at the end.' })),
  })
}

/** Nothing but the named parameters. */
export function parameters(names: { readonly [name: string]: TSchema }): TObject {
  return Type.Object({ ...names }, { additionalProperties: false })
}
