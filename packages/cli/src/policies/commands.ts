import type { NamedPolicyInput, PolicyVersion } from '@secondwind/client'
import { sayMs } from '@secondwind/lab'
import { check } from '@secondwind/resilience/rules'
import type { Answer, Argument, Command } from '../command.ts'
import { isOn, optional, readOptions, text } from '../input/read-options.ts'
import { readDocument } from '../input/read-document.ts'
import { sayCount } from '../output/say-count.ts'
import { durationCell, sayWhen, whenCell } from '../output/say-time.ts'
import { answerList, LIST_OPTIONS } from '../remote/listing.ts'
import { remoteCommand, type RemoteCall } from '../remote/remote-command.ts'
import { tellWhose } from '../remote/whose.ts'
import type { Table } from '../terminal/table.ts'
import { answerChanges, changesOf } from './changes.ts'
import { documentOf } from './document.ts'

const POLICY_ARGUMENT: Argument = { usage: '<policyId>', say: 'the name of a policy that the service keeps' }

const listCommand: Command = remoteCommand({
  path: ['policies', 'list'],
  summary: 'the newest version of each policy, by name',
  options: LIST_OPTIONS,
  examples: ['policies list'],
  run: async call => {
    await tellWhose(call)
    return answerList(call, {
      listing: call.client.policies.list(),
      idOf: ({ policyId }) => policyId,
      tableOf: policies => policyTable(policies, call.clock.now()),
      noun: 'policies',
    })
  },
})

const versionsCommand: Command = remoteCommand({
  path: ['policies', 'versions'],
  summary: 'all versions of a policy, the newest first',
  arguments: [POLICY_ARGUMENT],
  options: LIST_OPTIONS,
  examples: ['policies versions default'],
  run: call =>
    answerList(call, {
      listing: call.client.policies.versions(call.args[0] as string),
      idOf: ({ version }) => String(version),
      tableOf: policies => policyTable(policies, call.clock.now()),
      noun: 'versions',
    }),
})

function policyTable(policies: readonly PolicyVersion[], now: number): Table {
  return {
    columns: [
      { name: 'policyId' },
      { name: 'version', align: 'right' },
      { name: 'attempts', field: 'maxAttempts', align: 'right' },
      { name: 'within', field: 'totalBudgetMs', align: 'right' },
      { name: 'first wait', field: 'initialDelayMs', align: 'right', dropOrder: 4 },
      { name: 'longest wait', field: 'maxDelayMs', align: 'right', dropOrder: 3 },
      { name: 'jitter', field: 'jitterType', dropOrder: 2 },
      { name: 'kept', field: 'createdAt', dropOrder: 1 },
    ],
    rows: policies.map(one => [
      one.policyId,
      one.version,
      one.maxAttempts,
      durationCell(one.totalBudgetMs),
      durationCell(one.initialDelayMs),
      durationCell(one.maxDelayMs),
      one.jitterType,
      whenCell(one.createdAt, now),
    ]),
  }
}

const getCommand: Command = remoteCommand({
  path: ['policies', 'get'],
  summary: 'the newest version of a policy, with every default filled in',
  arguments: [POLICY_ARGUMENT],
  options: [{ flag: '--document', say: 'only the document, as lab and policies put take it' }],
  examples: ['policies get default', 'policies get default --document'],
  run: async ({ client, args, options, clock, typed }) => {
    const policy = await client.policies.get(args[0] as string)
    const { version, createdAt } = policy
    const data = options['document'] === true ? documentOf(policy) : policy
    return {
      data,
      show: () => JSON.stringify(data, undefined, 2),
      ...(options['document'] !== true && {
        verdict: `Version ${version}, kept since ${sayWhen(createdAt, clock.now())}: ${sayCount(policy.maxAttempts, 'attempt')} within ${sayMs(policy.totalBudgetMs)}.`,
      }),
      next: [`${typed('policies', 'get', policy.policyId, '--document')} | secondwind lab explain -`],
    }
  },
})

const putCommand: Command = remoteCommand({
  path: ['policies', 'put'],
  summary: 'keeps a policy under its name; another document than before becomes the next version',
  arguments: [{ usage: '<policy>', say: 'a file, JSON as it stands, or - for stdin' }],
  options: [
    { flag: '--policy-id <name>', say: 'its name, where the document has none' },
    { flag: '--dry-run', say: 'only say what would change' },
  ],
  examples: [
    'policies put payments.json --policy-id payments --dry-run',
    'policies put payments.json --policy-id payments',
  ],
  isChange: true,
  run: put,
})

async function put({ client, args, options, terminal, typed }: RemoteCall): Promise<Answer> {
  const { policyId, dryRun } = readOptions(options, { policyId: optional(text()), dryRun: isOn })
  const document = await readDocument(args[0] as string, { what: 'policy' }, terminal)
  const policy = (
    policyId === undefined || !check.isRecord(document) ? document : { ...document, policyId }
  ) as NamedPolicyInput
  const { before, changes } = await changesOf(client, policy)
  if (dryRun)
    return {
      data: { policyId: policy.policyId, version: before?.version, changes },
      ...answerChanges({ before, changes }),
      verdict: 'Nothing was changed.',
    }
  const kept = await client.policies.put(policy)
  const isNew = kept.version !== before?.version
  return {
    data: kept,
    ...answerChanges({ before, changes }),
    verdict: isNew
      ? `${kept.policyId}@${kept.version} is kept; tasks that were accepted before keep the version that they have.`
      : `${kept.policyId}@${kept.version} is as it was.`,
    next: [typed('policies', 'versions', kept.policyId)],
  }
}

export const POLICIES: readonly Command[] = [listCommand, getCommand, versionsCommand, putCommand]
