/** Attempts of a task, causes of death, counters of lanes, counts of replays: read in the main thread a few rows at a time. */
import { laneKey, laneOf, type Lane } from '../../task/lane.ts'
import { NO_COUNTS, type ReplayCounts } from '../../task/replay/counts.ts'
import type { AttemptRow, CapturedResponse } from '../../task/task.ts'
import { cursorOf } from '../cursor.ts'
import type { AttemptsPage, Cause, CausesPage, LaneCounters, LanesPage, Page } from '../store.ts'
import { named, whereAll, type Connection, type Value } from './connection.ts'
import { readCounts } from './replays.ts'
import { IN_ONE_TURN, type Turns } from './walk.ts'

export interface OverviewReader {
  attempts(ask: AttemptsPage): Promise<Page<AttemptRow>>
  causes(ask: CausesPage): Promise<Page<Cause>>
  lanes(ask: LanesPage): Page<LaneCounters>
  replayCounts(replayIds: readonly string[]): ReplayCounts[]
}

const ATTEMPTS = cursorOf('attempts', 'number', 'number')
const CAUSES = cursorOf('causes', 'number', 'string')
const LANES = cursorOf('lanes', 'string', 'string')

/** More causes than anybody reads: the counts of the others are left out of the order. */
const MOST_CAUSES = 10_000

type StoredAttempt = Omit<AttemptRow, 'taskId' | 'response'> & { readonly response?: string }
type CauseRow = Omit<Cause, 'sampleTaskIds'>

export function overviewReader(connection: Connection, turn: Turns): OverviewReader {
  const newestAttempt = connection.row<[number | null]>('select last_attempt from task where task_id = ?')
  const linkOf = connection.row<[previous: number | null, generation: number, ordinal: number]>(
    'select previous_id, generation, ordinal from attempt where attempt_id = ?',
  )
  const attempt = connection.objects<StoredAttempt>(
    `select generation, ordinal as "attemptNumber",
       ${named('started_at, duration_ms, outcome, response_status, error_code, error_message, response')}
     from attempt where attempt_id = ?`,
  )
  const causeColumns = `${named('cause_id, tenant, destination, reason, held_by, response_status, error_code, error_message')},
    tasks as count, ${named('first_at, last_at')}`
  const causes = (where: string): ((...values: Value[]) => CauseRow[]) =>
    connection.objects<CauseRow>(`select ${causeColumns} from cause join lane using (lane_id) where ${where} limit ?`)
  const causesOfAll = causes('cause_id > ? order by cause_id')
  const causesOfLane = causes('lane_id = ? and cause_id > ? order by cause_id')
  const samples = connection.rows<[taskId: string]>(
    `select task_id from task where status = 'EXHAUSTED' and cause_id = ? order by ended_at, seq limit 3`,
  )
  const laneColumns = `tenant || ' ' || destination as lane,
    ${named('pending, in_flight, succeeded, exhausted, cancelled, attempts, first_attempts')}`
  const lane = connection.objects<LaneCounters>(`select ${laneColumns} from lane where tenant = ? and destination = ?`)
  const countsOf = readCounts(connection)

  const lanesOf = (of: { tenant: string | undefined; destination: string | undefined }): number[] => {
    const { sql, values } = whereAll(of)
    return connection
      .rows<[number]>(`select lane_id from lane where ${sql}`)(...values)
      .map(([laneId]) => laneId)
  }
  const readLanes = (
    place: readonly [string, string],
    of: { tenant: string | undefined; destination: string | undefined },
    limit: number,
  ): LaneCounters[] => {
    const { sql, values } = whereAll(of)
    const read = connection.objects<LaneCounters>(
      `select ${laneColumns} from lane where ${sql} and (tenant, destination) > (?, ?) order by tenant, destination limit ?`,
    )
    return read(...values, ...place, limit)
  }

  const causeOf = (cause: CauseRow): Cause => ({
    ...cause,
    sampleTaskIds: samples(cause.causeId).map(([taskId]) => taskId),
  })

  return {
    async attempts({ taskId, cursor, limit }) {
      const [afterGeneration, afterOrdinal] = cursor === undefined ? [0, 0] : ATTEMPTS.read(cursor)
      // The chain leads from the newest to the first; a page begins with the first.
      const ids: number[] = []
      for (let id = newestAttempt(taskId)?.[0] ?? null; id !== null;) {
        const [previous, generation, ordinal] = linkOf(id) ?? [null, 0, 0]
        if (generation < afterGeneration || (generation === afterGeneration && ordinal <= afterOrdinal)) break
        if (ids.push(id) % IN_ONE_TURN === 0) await turn()
        id = previous
      }
      const wanted = ids.toReversed().slice(0, limit)
      const items = wanted.flatMap(id => attempt(id)).map(row => attemptOf(taskId, row))
      const last = items.at(-1)
      const isMore = ids.length > limit && last !== undefined
      return { items, ...(isMore && { nextCursor: ATTEMPTS.write([last.generation, last.attemptNumber]) }) }
    },

    async causes({ tenant, destination, causeId, cursor, limit }) {
      const place = cursor === undefined ? undefined : CAUSES.read(cursor)
      const rows: CauseRow[] = []
      const readAll = async (read: (behind: string) => readonly CauseRow[]): Promise<void> => {
        for (let behind = ''; rows.length < MOST_CAUSES;) {
          await turn()
          const more = read(behind)
          rows.push(...more.filter(row => (causeId ?? row.causeId) === row.causeId))
          if (more.length < IN_ONE_TURN) return
          behind = more.at(-1)?.causeId ?? behind
        }
      }
      if (tenant === undefined && destination === undefined) await readAll(behind => causesOfAll(behind, IN_ONE_TURN))
      else
        for (const laneId of lanesOf({ tenant, destination }))
          await readAll(behind => causesOfLane(laneId, behind, IN_ONE_TURN))
      const ordered = rows.toSorted(byCount)
      const isBehind = ({ count, causeId: id }: CauseRow): boolean =>
        place === undefined || count < place[0] || (count === place[0] && id > place[1])
      const from = ordered.findIndex(isBehind)
      const items = from < 0 ? [] : ordered.slice(from, from + limit).map(causeOf)
      const last = items.at(-1)
      return {
        items,
        ...(last && from + limit < ordered.length && { nextCursor: CAUSES.write([last.count, last.causeId]) }),
      }
    },

    lanes({ tenant, destination, names, cursor, limit }) {
      const place = cursor === undefined ? (['', ''] as const) : LANES.read(cursor)
      const items =
        names === undefined
          ? readLanes(place, { tenant, destination }, limit)
          : names
              .map(laneOf)
              .toSorted(byName)
              .filter(name => byName({ tenant: place[0], destination: place[1] }, name) < 0)
              .filter(
                name =>
                  (tenant ?? name.tenant) === name.tenant && (destination ?? name.destination) === name.destination,
              )
              .flatMap(name => lane(name.tenant, name.destination))
              .slice(0, limit)
      const last = items.length === limit ? items.at(-1) : undefined
      if (last === undefined) return { items }
      const { tenant: of, destination: to } = laneOf(last.lane)
      return { items, nextCursor: LANES.write([of, to]) }
    },

    replayCounts: replayIds => replayIds.map(replayId => countsOf(replayId) ?? NO_COUNTS),
  }
}

function byCount(one: CauseRow, other: CauseRow): number {
  return other.count - one.count || (one.causeId < other.causeId ? -1 : 1)
}

function attemptOf(taskId: string, { response, ...row }: StoredAttempt): AttemptRow {
  return { taskId, ...row, ...(response !== undefined && { response: JSON.parse(response) as CapturedResponse }) }
}

function byName(one: Lane, other: Lane): number {
  return laneKey(one) < laneKey(other) ? -1 : Number(laneKey(one) > laneKey(other))
}
