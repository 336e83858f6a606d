import type { Command } from '../command.ts'
import { whenCell } from '../output/say-time.ts'
import { answerList, LIST_OPTIONS } from '../remote/listing.ts'
import { REASON_OPTION, reasonOf } from '../remote/reason.ts'
import { remoteCommand } from '../remote/remote-command.ts'

const listCommand: Command = remoteCommand({
  path: ['tenants', 'list'],
  summary: 'every tenant, by name',
  options: LIST_OPTIONS,
  examples: ['tenants list'],
  run: call =>
    answerList(call, {
      listing: call.client.tenants.list(),
      idOf: ({ tenant }) => tenant,
      tableOf: tenants => ({
        columns: [{ name: 'tenant' }, { name: 'created', field: 'createdAt' }],
        rows: tenants.map(({ tenant, createdAt }) => [tenant, whenCell(createdAt, call.clock.now())]),
      }),
      noun: 'tenants',
    }),
})

const createCommand: Command = remoteCommand({
  path: ['tenants', 'create'],
  summary: 'makes room for another tenant: tasks, policies, keys and settings of its own',
  arguments: [{ usage: '<tenant>', say: 'the name of a tenant: 1 to 63 small letters, digits and dashes' }],
  options: [REASON_OPTION],
  examples: ['tenants create acme'],
  isChange: true,
  run: async ({ client, args, options, typed }) => {
    const made = await client.tenants.create({ tenant: args[0] as string, ...reasonOf(options) })
    return {
      data: made,
      show: () => `made room for ${made.tenant}`,
      next: [typed('keys', 'create', '--tenant', made.tenant, '--scope', 'enqueue', '--scope', 'read')],
    }
  },
})

export const TENANTS: readonly Command[] = [listCommand, createCommand]
