/** Many dead letters brought back: first a plan to be read, then the run of exactly that plan. */
import type { Client, Replay } from '@secondwind/client'
import { GIVE_UP_REASONS } from '@secondwind/resilience'
import type { Answer, Argument, Command, Option } from '../command.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { Failure, usageFailure } from '../failure.ts'
import { confirm, YES_OPTION } from '../input/confirm.ts'
import { given } from '../input/given.ts'
import { instant } from '../input/read-instant.ts'
import {
  isOn,
  oneOf,
  optional,
  perSecond,
  readOptions,
  text,
  wholeNumber,
  withDefault,
  type Reader,
} from '../input/read-options.ts'
import { share } from '../input/read-share.ts'
import { retyped } from '../input/typed.ts'
import { asItWasRead } from '../remote/as-it-was-read.ts'
import { answerList, LIST_OPTIONS } from '../remote/listing.ts'
import { REASON_OPTION, reasonOf } from '../remote/reason.ts'
import { remoteCommand, type RemoteCall } from '../remote/remote-command.ts'
import { createPage } from '../terminal/page.ts'
import { followReplay } from './follow-replay.ts'
import { heldBack } from './held-back.ts'
import { judgeReplay, replayTable, showReplay } from './replay-page.ts'

const USUAL_RATE = 20
const EXAMPLE_ID = '01a1e2a2-09b8-7b02-87fa-57f25d3342be'
const REPLAY_ARGUMENT: Argument = { usage: '<replayId>', say: 'as replay plan or replay list has it' }
const DETACH_OPTION = { flag: '--detach', say: 'do not wait for its end' }

/** What a plan leaves alone unless it is told otherwise. */
const INCLUDABLE = ['permanent', 'not-idempotent'] as const

const PLAN_OPTIONS: readonly Option[] = [
  { flag: '--destination <origin>', say: 'dead letters of this destination' },
  { flag: '--cause-id <causeId>', say: 'that died of this, as dead causes calls it' },
  { flag: '--given-up <reason>', say: 'that were given up for this reason', choices: GIVE_UP_REASONS },
  { flag: '--policy-id <name>', say: 'by this policy' },
  { flag: '--error-code <code>', say: 'whose newest attempt ended like this, such as http-503' },
  { flag: '--created-from <time>', say: 'not older than 2h, or from 2026-11-16T02:00:00Z on' },
  { flag: '--created-to <time>', say: 'older than that' },
  { flag: '--ended-from <time>', say: 'given up then or later' },
  { flag: '--ended-to <time>', say: 'given up before' },
  { flag: '--task-id <taskId>', say: 'these and no others; may be repeated', isRepeatable: true },
  { flag: '--rate <rate>', say: `how many a second (${USUAL_RATE}/s)` },
  { flag: '--canary <number>', say: 'so many first, and their results are waited for (5)' },
  { flag: '--stop-on-failure-rate <share>', say: 'stop when more than such a part fails (20%)' },
  { flag: '--over-last <number>', say: 'of so many of the last (50)' },
  {
    flag: '--include <ending>',
    say: 'also what would most likely fail again; may be repeated',
    choices: INCLUDABLE,
    isRepeatable: true,
  },
  REASON_OPTION,
]

const planCommand: Command = remoteCommand({
  path: ['replay', 'plan'],
  summary: 'counts what a replay would bring back, and what it would leave alone and why; nothing is sent',
  options: PLAN_OPTIONS,
  examples: ['replay plan --destination https://api.pay.example --ended-from 2h --rate 20/s --reason INC-2231'],
  isChange: true,
  run: plan,
})

/** As often as it was given. */
function several<Value>(read: Reader<Value>): Reader<readonly Value[] | undefined> {
  return given => {
    if (given === undefined) return { value: undefined }
    const answers = [given].flat().map(one => read(one))
    const wrong = answers.find(answer => 'must' in answer)
    return wrong ?? { value: answers.flatMap(answer => ('value' in answer ? [answer.value] : [])) }
  }
}

async function plan(call: RemoteCall): Promise<Answer> {
  const { client, options, clock } = call
  const now = clock.now()
  const { rate, canary, stopOnFailureRate, overLast, include, givenUp, taskId, ...filter } = readOptions(options, {
    destination: optional(text()),
    causeId: optional(text()),
    givenUp: optional(oneOf(...GIVE_UP_REASONS)),
    policyId: optional(text()),
    errorCode: optional(text()),
    createdFrom: optional(instant(now, 'ago')),
    createdTo: optional(instant(now, 'ago')),
    endedFrom: optional(instant(now, 'ago')),
    endedTo: optional(instant(now, 'ago')),
    taskId: several(text()),
    rate: withDefault(USUAL_RATE, perSecond()),
    canary: optional(wholeNumber(0, 100)),
    stopOnFailureRate: optional(share),
    overLast: optional(wholeNumber(1, 200)),
    include: several(oneOf(...INCLUDABLE)),
  })
  const chosen = given({ ...filter, reason: givenUp, taskIds: taskId })
  if (Object.keys(chosen).length === 0) throw nothingChosen(call)
  const planned = await client.replays.plan({
    filter: chosen,
    ratePerSecond: rate,
    ...given({ canary, stopOnFailureRate, overLast, include }),
    ...reasonOf(options),
  })
  const counted = await followReplay(call, planned, { statuses: ['PLANNING'], label: 'counting', doneOf: () => 0 })
  const answer = await answerReplay(call, counted)
  return { ...answer, next: [...(answer.next ?? []), ...widerPlans(call, counted)] }
}

/** Every dead letter at once is never meant. */
function nothingChosen({ typed }: RemoteCall): Failure {
  return usageFailure({
    code: 'missing-option',
    what: 'a plan must say which dead letters',
    because: ['Without a destination, a cause, a time or the like every dead letter would be replayed.'],
    next: [typed('dead', 'causes'), typed('replay', 'plan', '--ended-from', '2h')],
  })
}

/** The same plan with what it has left alone because it would most likely fail again. */
function widerPlans({ options, typed }: RemoteCall, { skipped }: Replay): readonly string[] {
  const asked = retyped(options, PLAN_OPTIONS)
  return INCLUDABLE.filter(ending => skipped.some(({ because, count }) => because === ending && count > 0)).map(
    ending => typed('replay', 'plan', ...asked, '--include', ending),
  )
}

async function answerReplay(call: RemoteCall, replay: Replay): Promise<Answer> {
  const { clock, typed } = call
  const held = await heldBack(call, replay)
  const verbs = NEXT[replay.status] ?? []
  return {
    data: replay,
    show: page => showReplay(replay, clock.now(), page),
    verdict: [judgeReplay(replay), held?.say].filter(Boolean).join(' '),
    next: [
      ...(held?.next ?? []),
      ...verbs.filter(verb => !isInVain(verb, replay)).map(verb => typed('replay', verb, replay.replayId)),
    ],
    exitCode: replay.status === 'STOPPED' ? EXIT_CODES.no : EXIT_CODES.done,
  }
}

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
    const shows = showReplay(replay, clock.now(), createPage(terminal.err))
    // What has ended needs no question: the service says what can be done with it.
    if (!ENDED.includes(replay.status)) await confirm(call, { ask: 'cancel this replay', shows })
    return answerReplay(call, await client.replays.cancel(replay.replayId, reasonOf(options)))
  },
})

const statusCommand: Command = remoteCommand({
  path: ['replay', 'status'],
  summary: 'one replay: what it has sent, what became of it, and what is left',
  arguments: [REPLAY_ARGUMENT],
  options: [{ flag: '--wait', say: 'wait for its end' }],
  examples: [`replay status ${EXAMPLE_ID}`],
  run: async call => {
    const { wait } = readOptions(call.options, { wait: isOn })
    const replay = await call.client.replays.get(call.args[0] as string)
    if (!wait) return answerReplay(call, replay)
    return answerReplay(
      call,
      await followReplay(call, replay, { statuses: GOING, label: 'replay', doneOf: one => one.counts.sent }),
    )
  },
})

const listCommand: Command = remoteCommand({
  path: ['replay', 'list'],
  summary: 'replays, the newest first',
  options: LIST_OPTIONS,
  examples: ['replay list'],
  run: call =>
    answerList(call, {
      listing: call.client.replays.list(),
      idOf: ({ replayId }) => replayId,
      tableOf: replays => replayTable(replays, call.clock.now()),
      noun: 'replays',
    }),
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
