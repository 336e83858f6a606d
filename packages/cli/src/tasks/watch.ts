/** Tasks as they change: a page that is redrawn on a terminal, a line for each change elsewhere. */
import type { RetryTask } from '@secondwind/client'
import { deadline } from '@secondwind/resilience'
import type { Command, GivenOptions } from '../command.ts'
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts'
import { usageFailure } from '../failure.ts'
import { duration, optional, optionProblems, readOptions, wholeNumber, withDefault } from '../input/read-options.ts'
import { sayInstant } from '../output/say-time.ts'
import { LONGEST_AWAY_MS, sayAway } from '../remote/away.ts'
import { remoteCommand, type RemoteCall } from '../remote/remote-command.ts'
import { livePage } from '../terminal/live-page.ts'
import { createPage } from '../terminal/page.ts'
import { looksAtMany, looksAtOne, readingsOfOne, type Look } from './looks.ts'
import { FILTER_OPTIONS, readFilter } from './task-options.ts'
import { sayTask } from './task-table.ts'

const USUAL_LIMIT = 20
const USUAL_EVERY_MS = 2_000

export const watchCommand: Command = remoteCommand({
  path: ['tasks', 'watch'],
  summary: 'a task until it ends, or the newest tasks as they change',
  arguments: [{ usage: '[taskId]', say: 'the id of a task; without it, all that match' }],
  options: [
    ...FILTER_OPTIONS,
    { flag: '--limit <number>', say: `how many of the newest (${USUAL_LIMIT})` },
    { flag: '--every <duration>', say: 'how often to look at many where the service does not tell of changes (2s)' },
    { flag: '--for <duration>', say: 'stop after that' },
    { flag: '--ndjson', say: 'a JSON document for each change, one a line; so does --json' },
  ],
  examples: ['tasks watch 01a1e2a2-09b8-7b02-87fa-57f25d3342be', 'tasks watch --status PENDING --for 2s'],
  run: watch,
})

const READERS = {
  limit: withDefault(USUAL_LIMIT, wholeNumber(1, 200)),
  every: withDefault(USUAL_EVERY_MS, duration(500, 3_600_000)),
  for: optional(duration(1, 86_400_000)),
}

async function watch(call: RemoteCall): Promise<ExitCode> {
  const { options, clock, terminal } = call
  const taskId = call.args[0] as string | undefined
  const filter = readFilter(options, clock.now(), optionProblems(options, READERS))
  const { limit, every, for: forMs } = readOptions(options, READERS)
  if (taskId !== undefined) refuseFilter(filter, call, taskId)
  const enough = forMs === undefined ? undefined : deadline({ inMs: forMs }, clock)
  const isSeen = isRedrawn(call)
  // Whoever sees that nobody answers knows how long to wait for that; a program is told in the end.
  const longestAwayMs = isSeen ? Number.POSITIVE_INFINITY : LONGEST_AWAY_MS
  const looks =
    taskId === undefined
      ? looksAtMany(call, { filter, limit, everyMs: every, longestAwayMs }, enough?.signal)
      : (isSeen ? readingsOfOne : looksAtOne)(call, taskId, enough?.signal)
  const forget = terminal.onInterrupt?.(() => terminal.tell(sayStopped(call, taskId)))
  try {
    const last = await showLooks(call, looks)
    return last?.status === 'SUCCEEDED' ? EXIT_CODES.done : EXIT_CODES.no
  } catch (error) {
    if (!enough?.signal.aborted) throw error
    // Of many there is no end to wait for; the one that was named has not come to its own.
    return taskId === undefined ? EXIT_CODES.done : EXIT_CODES.no
  } finally {
    forget?.()
    enough?.release()
  }
}

function refuseFilter(filter: object, { typed }: RemoteCall, taskId: string): void {
  if (Object.keys(filter).length === 0) return
  throw usageFailure({
    code: 'wrong-option',
    what: 'a task that is named needs no filter',
    because: ['Filters choose among many.'],
    next: [typed('tasks', 'watch', taskId)],
  })
}

/** Times to the next attempt go on between two looks. */
const REDRAW_MS = 1_000

/** Shows each, and returns the task that changed last. */
async function showLooks(call: RemoteCall, looks: AsyncIterable<Look>): Promise<RetryTask | undefined> {
  const show = isRedrawn(call) ? redrawing(call) : inLines(call)
  let last: RetryTask | undefined
  try {
    for await (const look of looks) {
      show.look(look)
      last = look.changed.at(-1) ?? last
    }
    return last
  } finally {
    show.end()
  }
}

/** A terminal that knows nothing but characters cannot take a page back. */
function isRedrawn({ terminal: { out }, options }: RemoteCall): boolean {
  return out.isTerminal && !out.isAscii && !isDocument(options)
}

function isDocument(options: GivenOptions): boolean {
  return options['json'] === true || options['ndjson'] === true
}

interface Show {
  readonly look: (look: Look) => void
  readonly end: () => void
}

function inLines({ terminal, clock, options }: RemoteCall): Show {
  let wasAway = false
  const line = (task: RetryTask): string =>
    isDocument(options) ? JSON.stringify(task) : `${sayInstant(clock.now())}  ${sayTask(task, clock.now())}`
  return {
    look: ({ changed, awaySince }) => {
      const isAway = awaySince !== undefined
      if (isAway !== wasAway) terminal.tell(isAway ? `${sayAway(awaySince)}\n` : 'it answers again\n')
      wasAway = isAway
      terminal.write(changed.map(task => `${line(task)}\n`).join(''))
    },
    end: () => undefined,
  }
}

function redrawing({ terminal, options, clock }: RemoteCall): Show {
  const { out } = terminal
  const page = createPage({ ...out, hasColors: out.hasColors && options['color'] !== false })
  const live = livePage(terminal)
  const ended = new AbortController()
  let latest: Look | undefined
  // Above what it is about: the end of a long page may not be seen.
  const drawn = ({ show, awaySince }: Look): string =>
    awaySince === undefined ? show(page) : `${page.colors.yellow(sayAway(awaySince))}\n\n${show(page)}`
  const redraw = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      if (latest !== undefined) live.draw(drawn(latest))
      await clock.sleep(REDRAW_MS, ended.signal)
    }
  }
  // The only thing that ends its sleep is the end of the watch.
  redraw().catch(() => undefined)
  return {
    look: look => {
      latest = look
      live.draw(drawn(look))
    },
    end: () => ended.abort(),
  }
}

/** For whoever has interrupted it. */
export function sayStopped({ typed }: RemoteCall, taskId: string | undefined): string {
  const lines =
    taskId === undefined
      ? [typed('tasks', 'watch')]
      : [typed('tasks', 'watch', taskId), typed('tasks', 'cancel', taskId)]
  return `\nstopped watching; the service goes on\ntry  ${lines.join('\n     ')}\n`
}
