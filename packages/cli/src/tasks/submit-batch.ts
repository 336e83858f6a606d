/** Many tasks from a file, one JSON document a line; each has a result of its own. */
import { InvalidOptionError, ServiceError, type EnqueueResult, type RetryTaskInput } from '@secondwind/client'
import type { Problem } from '@secondwind/resilience'
import type { Answer } from '../command.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { problemsFailure, sayProblem } from '../failure.ts'
import { readBytes } from '../input/read-bytes.ts'
import type { RemoteCall } from '../remote/remote-command.ts'
import { showTable, type Table } from '../terminal/table.ts'

/** More are to be handed over in several files: all of them are read into memory first. */
const MOST_LINES = 100_000

/** Nothing is sent unless every line can be read; what the service refuses does not keep the others back. */
export async function submitBatch(file: string, { client, terminal, typed }: RemoteCall): Promise<Answer> {
  const { tasks, lines } = readLines(String(await readBytes(file, terminal)), file)
  const results = (await client.tasks.enqueueMany(tasks)).map(result => ({ line: lines[result.index]!, ...result }))
  const count = (kind: EnqueueResult['result']): number => results.filter(({ result }) => result === kind).length
  const [created, existing, refused, unanswered] = (['created', 'existing', 'refused', 'unanswered'] as const).map(
    count,
  )
  const items = results.map(documentOf)
  const missing = missingPolicies(results, tasks)
  const table = tableOf(items)
  // With keys of their own the same lines again are the same tasks; without, they would be others.
  const mayRepeat = file !== '-' && tasks.every(task => typeof task?.idempotencyKey === 'string')
  const isWhole = refused === 0 && unanswered === 0
  return {
    data: { created, existing, refused, unanswered, items },
    items,
    table,
    show: page => showTable(tableOf(items, true), page),
    verdict: isWhole
      ? sayTaken(tasks.length, existing!)
      : `${created! + existing!} of ${tasks.length} were taken, ${refused} refused, ${unanswered} not answered.${refused === 0 ? '' : sayMend(mayRepeat, missing)}`,
    next: isWhole
      ? [typed('tasks', 'list')]
      : [
          ...missing.slice(0, MOST_POLICIES).map(id => typed('policies', 'put', `${id}.json`, '--policy-id', id)),
          ...(mayRepeat ? [typed('tasks', 'submit', '--batch', file)] : []),
          // What was refused is told line by line; what was not answered is perhaps no fault of the lines.
          ...(unanswered === 0 ? [] : [typed('doctor')]),
        ],
    exitCode: isWhole ? EXIT_CODES.done : EXIT_CODES.no,
  }
}

function sayTaken(count: number, existing: number): string {
  const taken = count === 1 ? 'The task was taken' : `All ${count.toLocaleString('en')} were taken`
  if (existing === 0) return `${taken}.`
  return existing === count ? `${taken} before.` : `${taken}, ${existing.toLocaleString('en')} of them before.`
}

/** More of them are proposed when these are there. */
const MOST_POLICIES = 3

/** The policies that nobody has kept, though lines name them. */
function missingPolicies(results: readonly EnqueueResult[], tasks: readonly RetryTaskInput[]): readonly string[] {
  const named = results.flatMap(one => {
    const isMissing = 'error' in one && (one.error as { readonly code?: string }).code === 'policy-not-found'
    const policyId = isMissing ? tasks[one.index]?.policyId : undefined
    return policyId === undefined ? [] : [policyId]
  })
  return [...new Set(named)]
}

function sayMend(mayRepeat: boolean, missing: readonly string[]): string {
  const first =
    missing.length === 0
      ? ''
      : ` Keep the policies that are missing (${missing.slice(0, MOST_POLICIES).join(', ')}${missing.length > MOST_POLICIES ? ' …' : ''}).`
  return `${first} Mend each line that was refused as is said beside it, ${mayRepeat ? 'and hand over the whole file again' : 'and hand over only those again'}.`
}

function readLines(content: string, file: string): { tasks: readonly RetryTaskInput[]; lines: readonly number[] } {
  const problems: Problem[] = []
  const tasks: RetryTaskInput[] = []
  const lines: number[] = []
  for (const [index, text] of content
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    if (text.trim() === '') continue
    try {
      tasks.push(JSON.parse(text) as RetryTaskInput)
      lines.push(index + 1)
    } catch (error) {
      problems.push({ at: `line ${index + 1}`, is: undefined, say: `is no JSON: ${(error as Error).message}` })
    }
  }
  if (problems.length === 0 && (tasks.length === 0 || tasks.length > MOST_LINES))
    problems.push({ at: file, is: tasks.length, say: `must have 1 to ${MOST_LINES} tasks, one a line` })
  if (problems.length > 0) throw problemsFailure({ code: 'no-json', what: `${file} is no list of tasks` }, problems)
  return { tasks, lines }
}

interface Item {
  readonly line: number
  readonly result: EnqueueResult['result']
  readonly taskId?: string
  readonly idempotencyKey: string
  readonly code?: string
  readonly because?: string
}

function documentOf(one: EnqueueResult & { readonly line: number }): Item {
  const { line, result, idempotencyKey } = one
  if ('taskId' in one) return { line, result, taskId: one.taskId, idempotencyKey }
  const { code } = one.error as { readonly code?: string }
  return { line, result, idempotencyKey, ...(code !== undefined && { code }), because: becauseOf(one.error) }
}

/** Which fields are to be mended, if that is it; an error's own message is written for a log. */
function becauseOf(error: unknown): string {
  if (error instanceof InvalidOptionError || error instanceof ServiceError) {
    const problems = error.problems.map(sayProblem)
    if (problems.length > 0) return problems.join('; ')
  }
  return error instanceof ServiceError ? error.detail : (error as Error).message
}

/** Equal refusals stand in one row for people, each in its own for programs. */
function tableOf(items: readonly Item[], isGrouped = false): Table {
  const groups = isGrouped ? grouped(items) : items.map(item => [item] as const)
  return {
    columns: [
      { name: 'line', align: 'right' },
      { name: 'result' },
      { name: 'taskId', dropOrder: 3 },
      { name: 'code', dropOrder: 2 },
      { name: 'because', isProse: true },
      { name: 'key', field: 'idempotencyKey', dropOrder: 1 },
    ],
    rows: groups.map(([item, ...others]) => {
      const { line, result, taskId = '', code = '', because = '', idempotencyKey } = item!
      const isOne = others.length === 0
      return [
        { value: line, say: sayLines([line, ...others.map(other => other.line)]) },
        isOne ? result : `${(others.length + 1).toLocaleString('en')} × ${result}`,
        taskId,
        code,
        because,
        isOne ? idempotencyKey : '',
      ]
    }),
  }
}

function grouped(items: readonly Item[]): readonly (readonly Item[])[] {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const like = item.result === 'refused' ? JSON.stringify([item.code, item.because]) : String(item.line)
    const group = groups.get(like)
    if (group === undefined) groups.set(like, [item])
    else group.push(item)
  }
  return [...groups.values()]
}

const MOST_NUMBERS = 3

function sayLines(lines: readonly number[]): string {
  return `${lines.slice(0, MOST_NUMBERS).join(', ')}${lines.length > MOST_NUMBERS ? ' …' : ''}`
}
