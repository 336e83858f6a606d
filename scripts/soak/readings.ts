/** What the service shows when all is over: each task, each attempt, each counter. */
import { ask, read, readText } from './ask.ts'
import type { ShownAttempt, ShownTask } from './audit.ts'
import type { Ledger } from './ledger.ts'

export interface Shown {
  /** Every task of the service, by its id. */
  readonly tasks: ReadonlyMap<string, ShownTask>
  /** Rows by the id of their task. */
  readonly attempts: ReadonlyMap<string, readonly ShownAttempt[]>
  readonly deadLetters: number
  readonly destinations: readonly ShownDestination[]
  /** Of `/metrics`, by the whole name with its labels. */
  readonly metrics: ReadonlyMap<string, number>
}

export interface ShownDestination {
  readonly destination: string
  readonly inFlight: number
  readonly backlog: number
  readonly succeeded: number
  readonly exhausted: number
  readonly cancelled: number
  readonly attempts: number
}

const READERS = 8

export async function readAll(url: string, ledger: Ledger): Promise<Shown> {
  const listed = await pages<ShownTask>(`${url}/retry-tasks`)
  const tasks = new Map(listed.map(task => [task.taskId, task]))
  const causes = await pages<{ readonly count: number }>(`${url}/dead-letters`)
  return {
    tasks,
    attempts: await attemptsOf(
      url,
      [...ledger.tasks.values()].flatMap(({ taskId }) => taskId ?? []),
    ),
    deadLetters: causes.reduce((sum, { count }) => sum + count, 0),
    destinations: await pages<ShownDestination>(`${url}/destinations`),
    metrics: readMetrics(await readText(`${url}/metrics`)),
  }
}

async function pages<Item>(url: string): Promise<Item[]> {
  const all: Item[] = []
  for (let cursor = ''; ;) {
    const page = await read<{ readonly items: Item[]; readonly nextCursor?: string }>(`${url}?limit=200${cursor}`)
    all.push(...page.items)
    if (page.nextCursor === undefined) return all
    cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`
  }
}

async function attemptsOf(url: string, taskIds: readonly string[]): Promise<Map<string, ShownAttempt[]>> {
  const attempts = new Map<string, ShownAttempt[]>()
  const waiting = taskIds.values()
  const readSome = async (): Promise<void> => {
    for (const taskId of waiting) {
      const answered = await ask(`${url}/retry-tasks/${taskId}/attempts?limit=200`)
      // The audit reports a task that is gone.
      const isThere = answered?.status === 200
      attempts.set(taskId, isThere ? (JSON.parse(answered.text) as { items: ShownAttempt[] }).items : [])
    }
  }
  await Promise.all(Array.from({ length: READERS }, readSome))
  return attempts
}

function readMetrics(text: string): Map<string, number> {
  return new Map(
    Array.from(text.matchAll(/^([a-z_]+(?:\{.*\})?) (\S+)$/gm), ([, name = '', value]) => [name, Number(value)]),
  )
}
