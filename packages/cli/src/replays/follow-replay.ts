import type { Replay, ReplayStatus } from '@secondwind/client'
import type { RemoteCall } from '../remote/remote-command.ts'
import { showProgress } from '../terminal/progress.ts'
import { heldBack, type HeldBack } from './held-back.ts'

const LOOK_MS = 1_000

/** Looks once a second while it is in one of these; the bar counts what `doneOf` says. */
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
    readonly doneOf: (replay: Replay) => number
  },
): Promise<Replay> {
  const { client, clock, terminal, typed } = call
  let replay = begun
  let held: HeldBack | undefined = await heldBack(call, begun)
  const progress = showProgress(terminal, {
    label,
    done: doneOf(begun),
    total: Math.max(1, begun.selected),
    note: () => noteOf(replay, held),
  })
  const forget = terminal.onInterrupt?.(() =>
    terminal.tell(
      `\nstopped watching; the replay goes on\ntry  ${typed('replay', 'status', begun.replayId, '--watch')}\n     ${typed('replay', 'pause', begun.replayId)}\n`,
    ),
  )
  try {
    while (statuses.includes(replay.status)) {
      await clock.sleep(LOOK_MS)
      const before = doneOf(replay)
      replay = await client.replays.get(begun.replayId)
      progress.advance(doneOf(replay) - before)
      // What comes on needs no reason; what stands still has one, perhaps.
      held = doneOf(replay) === before ? await heldBack(call, replay) : undefined
    }
    return replay
  } finally {
    progress.end()
    forget?.()
  }
}

/** What somebody would ask who sees the bar stand still, or come on too well. */
function noteOf({ waitsFor, waitsForRoom, counts }: Replay, held: HeldBack | undefined): string {
  const failed = counts.failed === 0 ? [] : [`failed ${counts.failed}`]
  const waits = waitsForRoom ? ['waits for room'] : waitsFor === undefined ? [] : ['waits for another replay']
  return [...failed, ...waits, ...(held === undefined ? [] : [held.note])].join(', ')
}
