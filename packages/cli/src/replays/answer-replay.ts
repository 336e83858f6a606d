import type { Replay } from '@secondwind/client'
import type { Answer } from '../command.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import type { RemoteCall } from '../remote/remote-command.ts'
import { heldBack } from './held-back.ts'
import { judgeReplay, showReplay } from './replay-page.ts'

/** What it is now, what that comes to, what holds it back, and what can be done with it. */
export async function answerReplay(call: RemoteCall, replay: Replay): Promise<Answer> {
  const { clock, typed } = call
  const held = await heldBack(call, replay)
  const verbs = NEXT[replay.status] ?? []
  return {
    data: replay,
    show: page => showReplay(replay, clock.now(), page),
    verdict: [judgeReplay(replay), held?.say].filter(Boolean).join(' '),
    next: [
      ...(held?.next ?? []),
      ...(replay.status === 'STOPPED' ? lookWhy(replay, typed) : []),
      ...verbs.filter(verb => !isInVain(verb, replay)).map(verb => typed('replay', verb, replay.replayId)),
    ],
    exitCode: replay.status === 'STOPPED' ? EXIT_CODES.no : EXIT_CODES.done,
  }
}

/** Before it goes on: what they died of again. */
function lookWhy({ destinations }: Replay, typed: RemoteCall['typed']): readonly string[] {
  return destinations.slice(0, MOST_LOOKS).map(destination => typed('dead', 'causes', '--destination', destination))
}

const MOST_LOOKS = 3

/** A plan of nothing sends nothing. */
function isInVain(verb: string, { selected }: Replay): boolean {
  return verb === 'run' && selected === 0
}

const NEXT: { readonly [status in Replay['status']]?: readonly string[] } = {
  PLANNING: ['status'],
  PLANNED: ['run', 'cancel'],
  CANARY: ['status', 'pause'],
  RUNNING: ['status', 'pause', 'cancel'],
  PAUSED: ['resume', 'cancel'],
  STOPPED: ['resume', 'cancel'],
}
