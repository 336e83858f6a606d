import type { AuditEntry } from '@secondwind/client'
import type { Answer, Command } from '../command.ts'
import { given } from '../input/given.ts'
import { instant } from '../input/read-instant.ts'
import { isOn, optional, readOptions, text } from '../input/read-options.ts'
import { sayInstant } from '../output/say-time.ts'
import { answerList, LIST_OPTIONS, listProblems } from '../remote/listing.ts'
import { remoteCommand } from '../remote/remote-command.ts'
import { wrap } from '../terminal/page.ts'
import { showTable, type Table } from '../terminal/table.ts'
import { visible } from '../terminal/visible.ts'
import { ACTIONS, tellUnknownAction } from './actions.ts'
import { sayDetails } from './say-details.ts'
import { actorCell, namesOf, type NameOfActor } from './who.ts'

export const auditCommand: Command = remoteCommand({
  path: ['audit'],
  summary: 'who did what, when and why, the newest first',
  options: [
    { flag: '--actor <keyId>', say: 'what was done with this key' },
    { flag: '--action <action>', say: 'only these', choices: ACTIONS },
    { flag: '--subject <name>', say: 'what was done to this task, key, destination …' },
    { flag: '--since <time>', say: 'not older than 2h, or from 2026-11-16T02:00:00Z on' },
    { flag: '--until <time>', say: 'older than that' },
    { flag: '--all', say: 'of every tenant; for operators' },
    ...LIST_OPTIONS,
  ],
  examples: ['audit --since 1d', 'audit --action task.cancel'],
  run: call => {
    const now = call.clock.now()
    const readers = {
      actor: optional(text()),
      action: optional(text()),
      subject: optional(text()),
      since: optional(instant(now, 'ago')),
      until: optional(instant(now, 'ago')),
      all: isOn,
    }
    const { all, ...filter } = readOptions(call.options, readers, listProblems(call.options))
    const namesIn = (entries: readonly AuditEntry[]): Promise<NameOfActor> =>
      namesOf(
        entries.map(({ actor }) => actor),
        call,
      )
    const listed = {
      listing: call.client.audit({ ...given(filter), ...(all && { all }) }),
      idOf: ({ auditId }: AuditEntry) => auditId,
      tableOf: async (entries: readonly AuditEntry[]) => auditTable(entries, await namesIn(entries)),
      showOf: async (entries: readonly AuditEntry[]) => auditPage(entries, await namesIn(entries)),
      noun: 'entries match',
    }
    return answerList(call, listed, entries => tellUnknownAction(entries, filter.action, call))
  },
})

/** A line for each where that fits; else two, for none of it may be left out. */
function auditPage(entries: readonly AuditEntry[], nameOf: NameOfActor): Answer['show'] {
  const isOfMany = new Set(entries.map(({ tenant }) => tenant)).size > 1
  return page => {
    const table = showTable(auditTable(entries, nameOf), page)
    const [, ...rows] = table.split('\n')
    if (rows.every(row => row.length <= page.columns)) return table
    return entries
      .map(({ at, actor, action, subject, reason, tenant, details = {} }) => {
        const whose = isOfMany ? `  for ${tenant}` : ''
        const more = [reason ?? '', sayDetails(details)].filter(Boolean).map(text => `  ${text}`)
        const lines = [`${sayInstant(at)}  ${action}  by ${nameOf(actor)}${whose}`, `    ${subject}${more.join('')}`]
        return lines.map(line => wrap(visible(line), page.columns, '    ')).join('\n')
      })
      .join('\n')
  }
}

function auditTable(entries: readonly AuditEntry[], nameOf: NameOfActor): Table {
  const tenants = new Set(entries.map(({ tenant }) => tenant))
  const hasDetails = entries.some(({ details = {} }) => sayDetails(details) !== '')
  return {
    columns: [
      { name: 'at' },
      // Ids are to be copied: they are never broken.
      { name: 'by', field: 'actor' },
      { name: 'action' },
      { name: 'subject' },
      { name: 'reason', isProse: true },
      // One that they all share tells nothing.
      { name: 'tenant', ...(tenants.size < 2 && { dropOrder: 1 }) },
      { name: 'details', isProse: true, ...(hasDetails ? {} : { isOnlyData: true }) },
    ],
    rows: entries.map(one => [
      { value: one.at, say: sayInstant(one.at) },
      actorCell(one.actor, nameOf),
      one.action,
      one.subject,
      one.reason ?? '',
      one.tenant,
      one.details === undefined ? '' : { value: JSON.stringify(one.details), say: sayDetails(one.details) },
    ]),
  }
}
