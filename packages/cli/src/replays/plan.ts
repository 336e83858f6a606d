import type { Replay } from '@secondwind/client'
import { GIVE_UP_REASONS } from '@secondwind/resilience'
import type { Answer, Command, Option } from '../command.ts'
import { usageFailure, type Failure } from '../failure.ts'
import { given } from '../input/given.ts'
import { instant } from '../input/read-instant.ts'
import {
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
import { REASON_OPTION, reasonOf } from '../remote/reason.ts'
import { remoteCommand, type RemoteCall } from '../remote/remote-command.ts'
import { actedFor, tellWhose } from '../remote/whose.ts'
import { CAUSE_OPTION, WHICH_OPTIONS, whichReaders } from '../tasks/which-tasks.ts'
import { answerReplay } from './answer-replay.ts'
import { followReplay } from './follow-replay.ts'

const USUAL_RATE = 20

/** What a plan leaves alone unless it is told otherwise. */
const INCLUDABLE = ['permanent', 'not-idempotent'] as const

const PLAN_OPTIONS: readonly Option[] = [
  ...WHICH_OPTIONS,
  CAUSE_OPTION,
  { flag: '--given-up <reason>', say: 'that were given up for this reason', choices: GIVE_UP_REASONS },
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

export const planCommand: Command = remoteCommand({
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
    ...whichReaders(now),
    causeId: optional(text()),
    givenUp: optional(oneOf(...GIVE_UP_REASONS)),
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
  await tellWhose(call)
  const planned = await client.replays.plan({
    filter: chosen,
    ratePerSecond: rate,
    ...given({ canary, stopOnFailureRate, overLast, include }),
    ...reasonOf(options),
  })
  const counted = await followReplay(call, planned, { statuses: ['PLANNING'], label: 'counting' })
  if (counted.status === 'PLANNED' && counted.selected === 0) return dropped(call, counted)
  const answer = await answerReplay(call, counted)
  return { ...answer, next: [...(answer.next ?? []), ...widerPlans(call, counted)] }
}

/** Nobody runs a plan of nothing: it is not left for somebody to wonder about. */
async function dropped(call: RemoteCall, empty: Replay): Promise<Answer> {
  const answer = await answerReplay(call, await call.client.replays.cancel(empty.replayId))
  const tenant = await actedFor(call)
  return {
    ...answer,
    verdict: `There is nothing${tenant === undefined ? '' : ` of tenant ${tenant}`} that it would send; the plan was cancelled at once.`,
    next: widerPlans(call, empty),
  }
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
