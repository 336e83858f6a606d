import { fork, type ChildProcess } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { onTestFinished } from 'vitest'
import type { Begin, CallersReport, LiveWorld, ServerReport } from './live-world.test-kit.ts'
import { sharedNow, stalledMsPerSecond } from './stalls.test-kit.ts'

/** What was seen of a world that has really happened. */
export interface Seen {
  /** Calls at the server. */
  readonly perSecond: readonly number[]
  /** Of all operations, by why they were given up, or `succeeded`. */
  readonly outcomeShares: { readonly [outcome: string]: number }
}

export interface LiveRun extends Seen {
  /** The longest time in any one second for which callers and server, together, stood still. */
  readonly mostStalledMs: number
}

/** Enough for an order to arrive before what it orders. */
const LEAD_MS = 200

export async function runLive(world: LiveWorld): Promise<LiveRun> {
  const server = startProcess(new URL('server-process.test-kit.ts', import.meta.url))
  const callers = startProcess(new URL('callers-process.test-kit.ts', import.meta.url))
  const url = await answerOf<string>(server)
  const beginsAt = sharedNow() + LEAD_MS
  for (const process of [server, callers]) process.send({ world, beginsAt, url } satisfies Begin)
  const called = await answerOf<CallersReport>(callers)
  server.send('end')
  const served = await answerOf<ServerReport>(server)
  const { seconds } = world
  const perSecond = Array.from({ length: seconds }, () => 0)
  for (const at of served.arrivedAt) {
    const second = Math.floor((at - beginsAt) / 1_000)
    if (second < seconds) perSecond[second]!++
  }
  return {
    perSecond,
    outcomeShares: sharesOf(called.outcomes),
    mostStalledMs: Math.max(...stalledMsPerSecond([...called.stalls, ...served.stalls], { fromAt: beginsAt, seconds })),
  }
}

function startProcess(script: URL): ChildProcess {
  // Detached: a session of its own, for some systems share the processor out among sessions first.
  const child = fork(script, { execArgv: ['--conditions=@secondwind/source'], detached: true })
  onTestFinished(() => void child.kill('SIGKILL'))
  putFirst(child.pid!)
  return child
}

/** Asks that it be served before all others. Where that is not granted, a busy machine stalls it more often, which is seen. */
function putFirst(pid: number): void {
  const first = constants.priority.PRIORITY_HIGHEST
  const asks = [() => setPriority(pid, first), () => writeFileSync(`/proc/${pid}/autogroup`, String(first))]
  for (const ask of asks)
    try {
      ask()
    } catch {
      // Not every system knows it, nor does every user have the right.
    }
}

function answerOf<Answer>(child: ChildProcess): Promise<Answer> {
  return new Promise((resolve, reject) => {
    child.once('message', answer => resolve(answer as Answer))
    child.once('exit', code => reject(new Error(`a process of the live world ended with ${code}`)))
  })
}

export function sharesOf(counts: { readonly [outcome: string]: number }): { readonly [outcome: string]: number } {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return Object.fromEntries(Object.entries(counts).map(([outcome, count]) => [outcome, count / all]))
}
