import type { BodyIndex, BodyRecord } from '../../stores/store.ts'
import { sayUnknownBody } from '../bodies/body-refusals.ts'
import { isWellFormed } from '../requests/well-formed.ts'
import type { TaskInput } from '../schemas/task-input.ts'
import { right, wrong, type Read } from './read.ts'

type Bodies = Pick<TaskInput, 'body' | 'bodyBase64' | 'bodyRef' | 'method'>

/** RFC 4648 §4 and §5, with or without padding. */
const BASE64 = /^(?:[A-Za-z\d+/]*|[A-Za-z\d_-]*)={0,2}$/

/** A task gives its bytes in one of these fields. */
const WAYS = ['body', 'bodyBase64', 'bodyRef'] as const

/** The bytes that every attempt will send, exactly as given. Null: there are none, or the task names an upload. */
export function readBody(given: Bodies): Read<Uint8Array | null> {
  const [at, second] = WAYS.filter(way => given[way] !== undefined)
  if (at === undefined) return right(null)
  const { method = 'POST', [at]: is = '' } = given
  if (second !== undefined) return wrong(at, is, `and ${second} exclude each other`)
  if (method === 'GET' || method === 'HEAD') return wrong(at, is, `has no meaning with ${method}: leave it out`)
  if (at === 'bodyRef') return right(null)
  if (at === 'bodyBase64') return isBase64(is) ? right(Buffer.from(is, 'base64')) : wrong(at, is, 'must be base64')
  return isWellFormed(is)
    ? right(Buffer.from(is, 'utf8'))
    : wrong(at, is, 'has half of a surrogate pair, which is no character; send such bytes as bodyBase64')
}

/** The body that was uploaded before, if the task names one. */
export async function findBody(
  tenant: string,
  { bodyRef }: Bodies,
  store: Pick<BodyIndex, 'bodies'>,
): Promise<Read<BodyRecord | undefined>> {
  if (bodyRef === undefined) return right(undefined)
  const [record] = await store.bodies([{ tenant, bodyRef }])
  if (record !== undefined) return right(record)
  const alone = { code: 'body-not-found', status: 422, detail: sayUnknownBody(bodyRef) } as const
  return { ...wrong('bodyRef', bodyRef, 'names no body that is here: upload it first'), alone }
}

/** Node decodes as much as it can, and leaves out the rest in silence. */
function isBase64(text: string): boolean {
  if (!BASE64.test(text)) return false
  const isPadded = text.endsWith('=')
  return isPadded ? text.length % 4 === 0 : text.length % 4 !== 1
}
