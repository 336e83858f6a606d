import type { Key, Scope } from '@secondwind/client'
import type { Answer, Argument, Command, Option } from '../command.ts'
import { confirm, YES_OPTION } from '../input/confirm.ts'
import { instantToCome } from '../input/read-instant.ts'
import { duration, isOn, oneOf, optional, readOptions, text, type Reader } from '../input/read-options.ts'
import { quoted, retyped, typed } from '../input/typed.ts'
import { sayWhen, whenCell } from '../output/say-time.ts'
import { CONNECTION_OPTIONS } from '../remote/connection.ts'
import { answerList, LIST_OPTIONS } from '../remote/listing.ts'
import { REASON_OPTION, reasonOf } from '../remote/reason.ts'
import { remoteCommand, type RemoteCall } from '../remote/remote-command.ts'
import { unsaid, type Table } from '../terminal/table.ts'
import { findListed } from './find-listed.ts'
import { actorCell, sayingMakers, type SayingWho } from './who.ts'
import { answerOnce, placeFor, WRITE_OPTION } from './shown-once.ts'

const SCOPES: readonly Scope[] = ['enqueue', 'read', 'read-bodies', 'operate', 'admin']
const KEY_ARGUMENT: Argument = { usage: '<keyId>', say: 'the id of a key, as keys list has it' }

/** A month: who has not changed over by then will not. */
const LONGEST_OVERLAP_MS = 30 * 86_400_000

export const OVERLAP_OPTION: Option = {
  flag: '--overlap <duration>',
  say: 'how long the one of before is good for, too (1d)',
}

export function overlapOf(options: RemoteCall['options']): { readonly overlapMs?: number } {
  const { overlap } = readOptions(options, { overlap: optional(duration(0, LONGEST_OVERLAP_MS)) })
  return overlap === undefined ? {} : { overlapMs: overlap }
}

const listCommand: Command = remoteCommand({
  path: ['keys', 'list'],
  summary: 'every key that you may see, without what makes it one',
  options: [
    { flag: '--all', say: "of every tenant, and operators' own, though a tenant is named; for operators" },
    ...LIST_OPTIONS,
  ],
  examples: ['keys list', 'keys list --all'],
  run: async call => {
    const { all } = readOptions(call.options, { all: isOn })
    const answer = await answerList(call, {
      listing: call.client.keys.list(all ? { all } : {}),
      idOf: ({ keyId }) => keyId,
      tableOf: async keys => keyTable(keys, await sayingMakers(keys, call)),
      noun: 'keys',
    })
    call.terminal.tell(sayWhose(answer.items as readonly Key[], call.tenant, all))
    return answer
  },
})

/** Which keys these are, and how to see others: an operator's key sees them all. */
function sayWhose(keys: readonly Key[], tenant: string | undefined, all: boolean): string {
  if (tenant !== undefined && !all)
    return `the keys of ${tenant}; with an operator's key --all shows those of everybody\n`
  const isOfAll = keys.some(({ isOperator }) => isOperator)
  return isOfAll ? "the keys of every tenant, and operators' own; --tenant <name> shows those of one\n" : ''
}

function keyTable(keys: readonly Key[], { now, nameOf }: SayingWho): Table {
  return {
    columns: [
      { name: 'keyId' },
      { name: 'name', dropOrder: 4 },
      { name: 'tenant', dropOrder: 3 },
      { name: 'scopes' },
      { name: 'expires', field: 'expiresAt', dropOrder: 5 },
      { name: 'created', field: 'createdAt', dropOrder: 2 },
      { name: 'by', field: 'createdBy', dropOrder: 1 },
      { name: 'overlapsUntil', isOnlyData: true },
      { name: 'isOperator', isOnlyData: true },
    ],
    rows: keys.map(key => [
      key.keyId,
      key.name ?? '',
      { value: key.tenant, say: key.tenant ?? 'every' },
      key.scopes.join(','),
      whenCell(key.expiresAt, now),
      whenCell(key.createdAt, now),
      actorCell(key.createdBy, nameOf),
      key.overlapsUntil ?? '',
      unsaid(key.isOperator),
    ]),
  }
}

const scopes: Reader<readonly Scope[]> = given => {
  const read = [given ?? []].flat().map(one => oneOf(...SCOPES)(one))
  const found = read.flatMap(one => ('value' in one ? [one.value] : []))
  if (read.length === 0) return { must: `one of ${SCOPES.join(', ')}` }
  return read.find(one => 'must' in one) ?? { value: found }
}

const createCommand: Command = remoteCommand({
  path: ['keys', 'create'],
  summary: 'makes a key, and shows it this once; from the first one on every request needs a key',
  options: [
    { flag: '--scope <scope>', say: 'what it may do; may be repeated', choices: SCOPES, isRepeatable: true },
    { flag: '--name <name>', say: 'whose it is, for people' },
    { flag: '--operator', say: 'it acts for every tenant; the first key must, with --scope admin' },
    { flag: '--expires <time>', say: 'it is refused from then on: 90d, or 2026-12-31T00:00:00Z' },
    REASON_OPTION,
    WRITE_OPTION,
  ],
  examples: [
    'keys create --operator --scope admin --name first --write admin.key',
    'keys create --scope enqueue --scope read --name checkout --expires 90d',
  ],
  isChange: true,
  run: create,
})

async function create({ client, options, clock, hasKey }: RemoteCall): Promise<Answer> {
  const place = placeFor(options)
  const { scope, name, operator, expires } = readOptions(options, {
    scope: scopes,
    name: optional(text()),
    operator: isOn,
    expires: optional(instantToCome(clock.now())),
  })
  const { key, ...made } = await client.keys.create({
    scopes: scope,
    ...(operator && { isOperator: true }),
    ...(name !== undefined && { name }),
    ...(expires !== undefined && { expiresAt: expires }),
    ...reasonOf(options),
  })
  const may = `${made.keyId} may ${made.scopes.join(', ')} for ${made.tenant === undefined ? 'every tenant' : `tenant ${made.tenant}`}`
  return {
    ...answerOnce({ data: made, field: 'key', secret: key, place }),
    verdict: hasKey ? `${may}; nobody can show it again.` : `${may}. From now on every request needs a key.`,
    next: [place === undefined ? 'export SECONDWIND_KEY=…' : tryKey(made, place, options)],
  }
}

/** Something that the new key may do, with it and not with the one that made it. */
function tryKey({ scopes: may }: Key, place: string, options: RemoteCall['options']): string {
  const words = may.includes('admin') ? ['keys', 'list'] : may.includes('read') ? ['tasks', 'list'] : undefined
  if (words === undefined) return `export SECONDWIND_KEY="$(cat ${quoted(place)})"`
  return typed([...words, ...retyped({ ...options, keyFile: place, tenant: undefined }, CONNECTION_OPTIONS)])
}

const rotateCommand: Command = remoteCommand({
  path: ['keys', 'rotate'],
  summary: 'gives a key a new text, and shows it this once; the old one is good for a while yet',
  arguments: [KEY_ARGUMENT],
  options: [OVERLAP_OPTION, REASON_OPTION, WRITE_OPTION],
  examples: ['keys rotate 0123456789abcdef --overlap 2d --write checkout.key'],
  isChange: true,
  run: async ({ client, args, options, clock }) => {
    const place = placeFor(options)
    const { key, ...rotated } = await client.keys.rotate(args[0] as string, {
      ...overlapOf(options),
      ...reasonOf(options),
    })
    const { overlapsUntil } = rotated
    return {
      ...answerOnce({ data: rotated, field: 'key', secret: key, place }),
      verdict: `The old text is taken until ${overlapsUntil === undefined ? 'now' : sayWhen(overlapsUntil, clock.now())}.`,
    }
  },
})

const revokeCommand: Command = remoteCommand({
  path: ['keys', 'revoke'],
  summary: 'refuses a key from now on',
  arguments: [KEY_ARGUMENT],
  options: [YES_OPTION, REASON_OPTION],
  examples: ['keys revoke 0123456789abcdef --reason INC-2231'],
  isChange: true,
  run: async call => {
    const { client, options } = call
    const id = call.args[0] as string
    const key = await findListed(client.keys.list(), { noun: 'key', id, idOf: ({ keyId }) => keyId }, call)
    await confirm(call, { ask: `revoke ${id}`, shows: describe(key, call.clock.now()) })
    const revoked = await client.keys.revoke(id, reasonOf(options))
    return { data: revoked, show: () => `revoked ${revoked.keyId}` }
  },
})

/** Who will stand before a closed door. */
function describe({ keyId, name = 'without a name', scopes: may, createdAt }: Key, now: number): string {
  return `${keyId}  ${name}  may ${may.join(', ')}  made ${sayWhen(createdAt, now)}`
}

export const KEYS: readonly Command[] = [listCommand, createCommand, rotateCommand, revokeCommand]
