/** Compares what the service has counted with the ledger and the attempts. */
import { isLost, lifeOf } from './audit.ts'
import type { Ledger } from './ledger.ts'
import type { Shown } from './readings.ts'

export function checkCounters(ledger: Ledger, shown: Shown): string[] {
  const ends = { PENDING: 0, IN_FLIGHT: 0, SUCCEEDED: 0, EXHAUSTED: 0, CANCELLED: 0 }
  for (const { settled } of ledger.tasks.values()) if (settled !== undefined) ends[settled.status]++
  const rows = [...shown.attempts.values()].reduce((sum, { length }) => sum + length, 0)
  const total = (field: 'succeeded' | 'exhausted' | 'cancelled' | 'attempts' | 'backlog' | 'inFlight'): number =>
    shown.destinations.reduce((sum, destination) => sum + destination[field], 0)
  const expected: [say: string, is: number | undefined, must: number][] = [
    ['tasks in the list', shown.tasks.size, ledger.counts.accepted],
    ['dead letters', shown.deadLetters, ends.EXHAUSTED],
    ['succeeded of /destinations', total('succeeded'), ends.SUCCEEDED],
    ['exhausted of /destinations', total('exhausted'), ends.EXHAUSTED],
    ['cancelled of /destinations', total('cancelled'), 0],
    ['backlog of /destinations', total('backlog'), 0],
    ['in flight of /destinations', total('inFlight'), 0],
    ['attempts of /destinations', total('attempts'), rows],
  ]
  for (const [status, count] of Object.entries(ends)) {
    const name = `retry_tasks{status="${status}"}`
    expected.push([name, shown.metrics.get(name), count])
  }
  for (const [outcome, count] of endedInLastLife(ledger, shown)) {
    const name = `retry_attempts_total{outcome="${outcome}",policy="inline"}`
    expected.push([name, shown.metrics.get(name), count])
  }
  return expected.flatMap(([say, is, must]) =>
    is === must ? [] : [`${say}: ${is ?? 'none'}, and ${must} by the ledger`],
  )
}

/**
 * Attempts that the last process has made, by their outcome. Ambiguous ones are left out: it has also counted those that
 * an earlier one lost.
 */
function endedInLastLife({ tasks, lives }: Ledger, { attempts }: Shown): Map<string, number> {
  const counts = new Map([
    ['success', 0],
    ['transient', 0],
    ['permanent', 0],
  ])
  for (const { taskId, requests } of tasks.values())
    for (const row of attempts.get(taskId ?? '') ?? []) {
      const request = requests.find(({ attempt }) => attempt === row.attemptNumber)
      const count = counts.get(row.outcome)
      if (request === undefined || count === undefined || isLost(row)) continue
      if (lifeOf(request, lives) === lives.length - 1) counts.set(row.outcome, count + 1)
    }
  return counts
}
