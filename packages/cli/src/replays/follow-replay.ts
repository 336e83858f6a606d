import type { Replay, ReplayStatus } from '@secondwind/client'
import { EXIT_CODES } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { onceBack, sayAway } from '../remote/away.ts'
import type { RemoteCall } from '../remote/remote-command.ts'
import { showProgress } from '../terminal/progress.ts'
import { heldBack, type HeldBack } from './held-back.ts'

const LOOK_MS = 1_000

/** Looks once a second while it is in one of these; the bar counts what `doneOf` says, and without it there is none. */
export async function followReplay(
  call: RemoteCall,
  begun: Replay,
  {
    statuses,
    label,
    doneOf,
  }: {
    readonly statuses: readonly ReplayStatus[]
    readonly label: string
    readonly doneOf?: (replay: Replay) => number
  },
): Promise<Replay> {
  const { client, clock, terminal, typed } = call
  const countOf = doneOf ?? (() => 0)
  const startedAt = clock.monotonic()
  let replay = begun
  let leftMs: number | undefined
  let held: HeldBack | undefined
  const progress = showProgress(terminal, {
    label,
    ...(doneOf && { done: countOf(begun), total: Math.max(1, begun.selected) }),
    leftMs: () => leftMs,
    note: () => noteOf(replay, held),
    clock,
  })
  const ask = <Value>(question: () => Promise<Value>): Promise<Value> =>
    onceBack(question, { clock, tell: progress.say, givenUp: (error, at) => stillAway(error, at, call, replay) })
  const forget = terminal.onInterrupt?.(() =>
    terminal.tell(
      `\nstopped watching; the replay goes on\ntry  ${typed('replay', 'status', begun.replayId, '--watch')}\n     ${typed('replay', 'pause', begun.replayId)}\n`,
    ),
  )
  try {
    held = await ask(() => heldBack(call, begun))
    while (statuses.includes(replay.status)) {
      await clock.sleep(LOOK_MS)
      const before = countOf(replay)
      replay = await ask(() => client.replays.get(begun.replayId))
      progress.advance(countOf(replay) - before)
      leftMs = timeLeft(replay, { done: countOf(replay) - countOf(begun), inMs: clock.monotonic() - startedAt })
      // What comes on needs no reason; what stands still has one, perhaps.
      held = countOf(replay) === before ? await ask(() => heldBack(call, replay)) : undefined
    }
    return replay
  } finally {
    progress.end()
    forget?.()
  }
}

/** It is the service's own, and on its disk: whoever does not see it go on has lost only the sight of it. */
function stillAway(error: unknown, sinceAt: number, { url, typed }: RemoteCall, { replayId, status }: Replay): Failure {
  return new Failure({
    code: 'unreachable',
    what: `no service answers at ${url}`,
    because: [`${sayAway(sinceAt)}, and before that the replay was ${status}. ${(error as Error).message}.`],
    so: 'Nothing is lost: the replay goes on by itself when the service is back.',
    next: [typed('replay', 'status', replayId, '--watch'), typed('doctor')],
    exitCode: EXIT_CODES.unavailable,
  })
}

/**
 * At the rate that was asked for, or at the one that it has kept since somebody watches, where that is slower. Known anew with
 * each look, and not in between: what has been sent since the last one nobody knows.
 */
export function timeLeft(
  { selected, counts, ratePerSecond }: Pick<Replay, 'selected' | 'counts' | 'ratePerSecond'>,
  seen: { readonly done: number; readonly inMs: number },
): number | undefined {
  if (seen.done === 0) return undefined
  const left = Math.max(0, selected - counts.sent)
  return left * Math.max(1_000 / ratePerSecond, seen.inMs / seen.done)
}

/** What somebody would ask who sees the bar stand still, or come on too well. */
function noteOf({ waitsFor, waitsForRoom, counts }: Replay, held: HeldBack | undefined): string {
  const failed = counts.failed === 0 ? [] : [`failed ${counts.failed}`]
  const waits = waitsForRoom ? ['waits for room'] : waitsFor === undefined ? [] : ['waits for another replay']
  return [...failed, ...waits, ...(held === undefined ? [] : [held.note])].join(', ')
}
