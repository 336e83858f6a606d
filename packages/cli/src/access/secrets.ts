import type { Secret } from '@secondwind/client'
import type { Command } from '../command.ts'
import { confirm, YES_OPTION } from '../input/confirm.ts'
import { optional, readOptions, text } from '../input/read-options.ts'
import { sayWhen, whenCell } from '../output/say-time.ts'
import { answerList, LIST_OPTIONS } from '../remote/listing.ts'
import { REASON_OPTION, reasonOf } from '../remote/reason.ts'
import { remoteCommand } from '../remote/remote-command.ts'
import { actedFor, tellWhose } from '../remote/whose.ts'
import type { Table } from '../terminal/table.ts'
import { findListed } from './find-listed.ts'
import { OVERLAP_OPTION, overlapOf } from './keys.ts'
import { actorCell, sayingMakers, type SayingWho } from './who.ts'
import { answerOnce, placeFor, WRITE_OPTION } from './shown-once.ts'

const SECRET_ARGUMENT = { usage: '<secretId>', say: 'the id of a secret, as secrets list has it' }

const listCommand: Command = remoteCommand({
  path: ['secrets', 'list'],
  summary: 'what deliveries are signed with, without the secrets themselves',
  options: LIST_OPTIONS,
  examples: ['secrets list'],
  run: async call => {
    await tellWhose(call)
    return answerList(call, {
      listing: call.client.secrets.list(),
      idOf: ({ secretId }) => secretId,
      tableOf: async secrets => secretTable(secrets, await sayingMakers(secrets, call)),
      noun: 'secrets: deliveries are not signed',
    })
  },
})

function secretTable(secrets: readonly Secret[], { now, nameOf }: SayingWho): Table {
  return {
    columns: [
      { name: 'secretId' },
      { name: 'destination' },
      { name: 'created', field: 'createdAt' },
      { name: 'by', field: 'createdBy', dropOrder: 1 },
      { name: 'old one until', field: 'overlapsUntil', dropOrder: 2 },
    ],
    rows: secrets.map(one => [
      one.secretId,
      { value: one.destination, say: one.destination ?? 'all others' },
      whenCell(one.createdAt, now),
      actorCell(one.createdBy, nameOf),
      whenCell(one.overlapsUntil, now),
    ]),
  }
}

const createCommand: Command = remoteCommand({
  path: ['secrets', 'create'],
  summary: 'signs deliveries from now on, and shows the secret this once',
  options: [
    {
      flag: '--destination <origin>',
      say: 'only those to this one; else to all that have none of their own',
      isDestination: true,
    },
    REASON_OPTION,
    WRITE_OPTION,
  ],
  examples: ['secrets create --write signing.secret', 'secrets create --destination https://api.pay.example'],
  isChange: true,
  run: async call => {
    const { client, options } = call
    const place = placeFor(options)
    const { destination } = readOptions(options, { destination: optional(text()) })
    const input = { ...(destination !== undefined && { destination }), ...reasonOf(options) }
    // Asked before: an answer that shows a secret this once must not get lost behind another question.
    const tenant = await actedFor(call)
    const { secret, ...made } = await client.secrets.create(input)
    const whose = tenant === undefined ? '' : ` of tenant ${tenant}`
    return {
      ...answerOnce({ data: made, field: 'secret', secret, place }),
      verdict: `Deliveries${whose} to ${destination ?? 'all that have no secret of their own'} are signed from now on.`,
    }
  },
})

const rotateCommand: Command = remoteCommand({
  path: ['secrets', 'rotate'],
  summary: 'signs with a new secret, and for a while with the old one as well',
  arguments: [SECRET_ARGUMENT],
  options: [OVERLAP_OPTION, REASON_OPTION, WRITE_OPTION],
  examples: ['secrets rotate 0123456789abcdef --overlap 2d'],
  isChange: true,
  run: async ({ client, args, options, clock }) => {
    const place = placeFor(options)
    const rotation = { ...overlapOf(options), ...reasonOf(options) }
    const { secret, ...rotated } = await client.secrets.rotate(args[0] as string, rotation)
    const { overlapsUntil } = rotated
    return {
      ...answerOnce({ data: rotated, field: 'secret', secret, place }),
      verdict: `Both sign until ${overlapsUntil === undefined ? 'now' : sayWhen(overlapsUntil, clock.now())}.`,
    }
  },
})

const deleteCommand: Command = remoteCommand({
  path: ['secrets', 'delete'],
  summary: 'signs with it no longer',
  arguments: [SECRET_ARGUMENT],
  options: [YES_OPTION, REASON_OPTION],
  examples: ['secrets delete 0123456789abcdef'],
  isChange: true,
  run: async call => {
    const { client, options } = call
    const id = call.args[0] as string
    const secret = await findListed(
      client.secrets.list(),
      { noun: 'secret', id, idOf: ({ secretId }) => secretId },
      call,
    )
    await confirm(call, { ask: `delete ${id}`, shows: describe(secret) })
    const deleted = await client.secrets.remove(id, reasonOf(options))
    return { data: deleted, show: () => `deleted ${deleted.secretId}` }
  },
})

/** Who will notice. */
function describe({ secretId, destination = 'all that have no secret of their own' }: Secret): string {
  return `${secretId}  signs deliveries to ${destination}\nwhoever verifies will refuse what comes unsigned`
}

export const SECRETS: readonly Command[] = [listCommand, createCommand, rotateCommand, deleteCommand]
