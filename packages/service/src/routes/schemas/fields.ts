/** The small parts that several schemas have in common, each with the words in which it is asked for. */
import { Type, type TInteger, type TSchema, type TString } from 'typebox'
import { TASK_STATUSES, type TaskStatus } from '../../task/task.ts'
import { wordOf, type Schema } from './schema.ts'

export const EXAMPLE_TASK_ID = '019a8b1c-5f00-7d3e-9a41-0c2f6e5b7a2a'

export function uuidField(what: string): TString {
  return Type.String({
    pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$',
    'x-takes': `${what}: a UUID of version 7, in small letters`,
    examples: [EXAMPLE_TASK_ID],
  })
}

export const taskIdField: TString = uuidField('the id of a task')

/** Not a dot first: a path that ends in `..` leads elsewhere. */
export const POLICY_ID = '^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$'

export const policyIdField: TString = Type.String({
  pattern: POLICY_ID,
  'x-takes': 'a name of 1 to 100 letters, digits, dots, dashes and underscores',
  examples: ['payments'],
})

export const destinationField: TString = Type.String({
  minLength: 1,
  maxLength: 8_192,
  // Neither an origin nor a name has one: before it stands a password, which would be kept and shown.
  pattern: '^[^@]*$',
  'x-takes': 'the origin of a target, such as https://api.example, or the name of a destination, without credentials',
  examples: ['https://api.example'],
})

/** No control, no line separator, and nothing that turns the order of letters round (Unicode UAX #9). */
const ONE_LINE = String.raw`^[^\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]*$`

/** What people write and others read, on their terminals, too: it must not look like what somebody else has written. */
export function lineField(maxLength: number, { description, example }: LineWords): TString {
  return Type.String({
    minLength: 1,
    maxLength,
    pattern: ONE_LINE,
    'x-takes': `a text of 1 to ${maxLength} characters in one line, without control characters`,
    description,
    examples: [example],
  })
}

interface LineWords {
  readonly description: string
  readonly example: string
}

/** Why somebody does something. */
export const reasonField: TString = lineField(500, {
  description: 'Why, for whoever reads the audit.',
  example: 'INC-2231',
})

export const statusField: Schema<TaskStatus> = wordOf(TASK_STATUSES)

/** Ten years, as for policies: a longer wait is a slip of the keyboard. */
export const LONGEST_MS = 315_576_000_000

export function durationField(description: string): TInteger {
  return Type.Integer({ minimum: 0, maximum: LONGEST_MS, description, examples: [60_000] })
}

/** Before 1973 an instant was given in seconds by mistake. */
const FIRST_INSTANT = 100_000_000_000
const LAST_INSTANT = 8_640_000_000_000_000

export function instantField(description: string): TInteger {
  return Type.Integer({
    minimum: FIRST_INSTANT,
    maximum: LAST_INSTANT,
    'x-takes': 'an instant in whole milliseconds since the epoch',
    description,
    examples: [1_767_225_600_000],
  })
}

export const DEFAULT_PAGE = 50
const LARGEST_PAGE = 200

export const pageFields: { readonly cursor: TSchema; readonly limit: TSchema } = {
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 4_096, description: 'The `nextCursor` of the page before.' }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: LARGEST_PAGE, default: DEFAULT_PAGE, description: 'Items of a page.' }),
  ),
}

export interface PageQuery {
  readonly cursor?: string
  readonly limit?: number
}
