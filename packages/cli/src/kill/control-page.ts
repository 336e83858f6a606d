import type { Control } from '@secondwind/client'
import { namesOf } from '../access/who.ts'
import type { Answer } from '../command.ts'
import { sayDistance, whenCell } from '../output/say-time.ts'
import type { RemoteCall } from '../remote/remote-command.ts'
import { labelled } from '../terminal/page.ts'
import type { Table } from '../terminal/table.ts'
import { actorsOf, sayEnd, sayScope } from './say-control.ts'

const LABEL_WIDTH = 10

/** A few lines for each: there are seldom more than two, and of none may be missing who and why. */
export async function controlsPage(
  controls: readonly Control[],
  call: Pick<RemoteCall, 'client' | 'clock'>,
): Promise<Answer['show']> {
  const now = call.clock.now()
  const nameOf = await namesOf(controls.flatMap(actorsOf), call)
  return ({ columns, colors }) =>
    controls
      .map(one => {
        const line = (label: string, text: string): string =>
          labelled(`  ${label}`, text, { columns, width: LABEL_WIDTH })
        return [
          `${colors.bold(one.level)} for ${sayScope(one.scope)}`,
          line('why', one.reason),
          line('by', `${nameOf(one.createdBy)}, ${sayDistance(one.createdAt, now)}`),
          line('end', sayEnd(one, { now, nameOf })),
          line('id', one.controlId),
        ].join('\n')
      })
      .join('\n\n')
}

/** What programs get. */
export function controlTable(controls: readonly Control[], now: number): Table {
  return {
    columns: [
      { name: 'controlId' },
      { name: 'level' },
      { name: 'scope' },
      { name: 'expiresAt' },
      { name: 'reason' },
      { name: 'createdBy' },
      { name: 'createdAt' },
      { name: 'isInForce' },
      { name: 'endedAt' },
      { name: 'endedBy' },
    ],
    rows: controls.map(one => [
      one.controlId,
      one.level,
      JSON.stringify(one.scope),
      whenCell(one.endedAt ?? one.expiresAt, now),
      one.reason,
      one.createdBy,
      whenCell(one.createdAt, now),
      String(one.isInForce),
      one.endedAt ?? '',
      one.endedBy ?? '',
    ]),
  }
}
