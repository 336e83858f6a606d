/** Many dead letters brought back: first a plan to be read, then the run of exactly that plan. */
import { REPLAY_STATUSES, type Client, type Replay } from '@secondwind/client'
import type { Answer, Argument, Command } from '../command.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { confirm, YES_OPTION } from '../input/confirm.ts'
import { given } from '../input/given.ts'
import { isOn, oneOf, optional, perSecond, readOptions } from '../input/read-options.ts'
import { asItWasRead } from '../remote/as-it-was-read.ts'
import { answerList, LIST_OPTIONS, listProblems } from '../remote/listing.ts'
import { REASON_OPTION, reasonOf } from '../remote/reason.ts'
import { remoteCommand, type RemoteCall } from '../remote/remote-command.ts'
import { tellWhose } from '../remote/whose.ts'
import { createPage } from '../terminal/page.ts'
import { answerReplay } from './answer-replay.ts'
import { followReplay } from './follow-replay.ts'
import { planCommand } from './plan.ts'
import { judgeReplay, replayTable, showReplay } from './replay-page.ts'

const EXAMPLE_ID = '01a1e2a2-09b8-7b02-87fa-57f25d3342be'
const REPLAY_ARGUMENT: Argument = {
  usage: '<replayId>',
  say: 'the id of a replay, as replay plan or replay list has it',
}
const DETACH_OPTION = { flag: '--detach', say: 'do not wait for its end' }

const GOING: readonly Replay['status'][] = ['CANARY', 'RUNNING']
const ENDED: readonly Replay['status'][] = ['FINISHED', 'CANCELLED']

const runCommand: Command = remoteCommand({
  path: ['replay', 'run'],
  summary: 'runs a plan as it was read, and waits for its end; exits with 6 if it was stopped by its rule',
  arguments: [REPLAY_ARGUMENT],
  options: [REASON_OPTION, DETACH_OPTION],
  examples: [`replay run ${EXAMPLE_ID}`],
  isChange: true,
  run: async call => answerOnceOver(call, await runAsRead(call)),
})

/** The plan that is there now, and no other: whoever runs or cancels it at the same moment is not passed over. */
async function runAsRead(call: RemoteCall): Promise<Replay> {
  const { client, args, options, terminal, typed } = call
  const { replayId, status, version } = await client.replays.get(args[0] as string)
  if (GOING.includes(status)) terminal.tell('it is under way already: somebody has run it before\n')
  // One under way is written several times a second: there is no version of it to hold on to.
  const seen = status === 'PLANNED' ? { ifVersion: version } : {}
  return asItWasRead(
    () => client.replays.run(replayId, reasonOf(options), seen),
    async () => {
      const now = await client.replays.get(replayId)
      throw new Failure({
        code: 'version-changed',
        what: 'somebody else was quicker',
        because: [`It was ${status} when it was read, and is ${now.status} by now. ${judgeReplay(now)}`],
        so: 'Nothing was changed.',
        next: [typed('replay', 'status', replayId)],
        exitCode: EXIT_CODES.conflict,
      })
    },
  )
}

async function answerOnceOver(call: RemoteCall, replay: Replay): Promise<Answer> {
  const { detach } = readOptions(call.options, { detach: isOn })
  if (detach) return answerReplay(call, replay)
  return answerReplay(
    call,
    await followReplay(call, replay, { statuses: GOING, label: 'replay', doneOf: one => one.counts.sent }),
  )
}

const resumeCommand: Command = remoteCommand({
  path: ['replay', 'resume'],
  summary: 'goes on with a replay, perhaps at another rate; also changes the rate of one under way',
  arguments: [REPLAY_ARGUMENT],
  options: [{ flag: '--rate <rate>', say: 'how many a second from now on' }, REASON_OPTION, DETACH_OPTION],
  examples: [`replay resume ${EXAMPLE_ID} --rate 5/s`],
  isChange: true,
  run: async call => {
    const { rate } = readOptions(call.options, { rate: optional(perSecond()) })
    const how = { ...(rate !== undefined && { ratePerSecond: rate }), ...reasonOf(call.options) }
    return answerOnceOver(call, await call.client.replays.resume(call.args[0] as string, how))
  },
})

const pauseCommand: Command = actCommand('pause', 'sends nothing more of a replay for now', (client, id, why) =>
  client.replays.pause(id, why),
)

function actCommand(
  verb: string,
  summary: string,
  act: (client: Client, replayId: string, why: { readonly reason?: string }) => Promise<Replay>,
): Command {
  return remoteCommand({
    path: ['replay', verb],
    summary,
    arguments: [REPLAY_ARGUMENT],
    options: [REASON_OPTION],
    examples: [`replay ${verb} ${EXAMPLE_ID}`],
    isChange: true,
    run: async call => answerReplay(call, await act(call.client, call.args[0] as string, reasonOf(call.options))),
  })
}

const cancelCommand: Command = remoteCommand({
  path: ['replay', 'cancel'],
  summary: 'ends a replay; what was not sent stays dead',
  arguments: [REPLAY_ARGUMENT],
  options: [YES_OPTION, REASON_OPTION],
  examples: [`replay cancel ${EXAMPLE_ID} --yes`],
  isChange: true,
  run: async call => {
    const { client, clock, terminal, options } = call
    const replay = await client.replays.get(call.args[0] as string)
    const shows = `${showReplay(replay, clock.now(), createPage(terminal.err))}\n\n${judgeReplay(replay)}`
    // What has ended needs no question: the service says what can be done with it.
    if (!ENDED.includes(replay.status)) await confirm(call, { ask: 'cancel this replay', shows })
    return answerReplay(call, await client.replays.cancel(replay.replayId, reasonOf(options)))
  },
})

const statusCommand: Command = remoteCommand({
  path: ['replay', 'status'],
  summary: 'one replay: what it has sent, what became of it, and what is left',
  arguments: [REPLAY_ARGUMENT],
  options: [
    { flag: '--watch', say: 'its bar until it ends; so does --wait' },
    { flag: '--wait', say: 'wait for its end' },
  ],
  examples: [`replay status ${EXAMPLE_ID}`, `replay status ${EXAMPLE_ID} --watch`],
  run: async call => {
    const { wait, watch } = readOptions(call.options, { wait: isOn, watch: isOn })
    const replay = await call.client.replays.get(call.args[0] as string)
    if (!wait && !watch) return answerReplay(call, replay)
    return answerReplay(
      call,
      await followReplay(call, replay, { statuses: GOING, label: 'replay', doneOf: one => one.counts.sent }),
    )
  },
})

const listCommand: Command = remoteCommand({
  path: ['replay', 'list'],
  summary: 'replays, the newest first',
  options: [{ flag: '--status <status>', say: 'in this status', choices: REPLAY_STATUSES }, ...LIST_OPTIONS],
  examples: ['replay list', 'replay list --status RUNNING'],
  run: async call => {
    const readers = { status: optional(oneOf(...REPLAY_STATUSES)) }
    const { status } = readOptions(call.options, readers, listProblems(call.options))
    await tellWhose(call)
    return answerList(call, {
      listing: call.client.replays.list(given({ status })),
      idOf: ({ replayId }) => replayId,
      tableOf: replays => replayTable(replays, call.clock.now()),
      noun: status === undefined ? 'replays' : `replays are ${status}`,
    })
  },
})

export const REPLAYS: readonly Command[] = [
  planCommand,
  runCommand,
  pauseCommand,
  resumeCommand,
  cancelCommand,
  statusCommand,
  listCommand,
]
