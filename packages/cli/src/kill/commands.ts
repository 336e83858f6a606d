/** The kill switch: three levels, a reason, an end, and first of all what it will hold. */
import type { Control, ControlInput, ControlPreview, ControlScope } from '@secondwind/client'
import { namesOf } from '../access/who.ts'
import type { Answer, Command } from '../command.ts'
import { knownDestination } from '../destinations/known-destination.ts'
import { tellNeverUsed } from '../destinations/never-used.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { Failure, usageFailure } from '../failure.ts'
import { confirm, YES_OPTION } from '../input/confirm.ts'
import { given } from '../input/given.ts'
import { isOn, oneOf, readOptions, withDefault, type Reader } from '../input/read-options.ts'
import { sayCount } from '../output/say-count.ts'
import { asItWasRead } from '../remote/as-it-was-read.ts'
import { answerList, LIST_OPTIONS } from '../remote/listing.ts'
import { REASON_OPTION, reasonOf } from '../remote/reason.ts'
import { remoteCommand, type RemoteCall } from '../remote/remote-command.ts'
import { END_OPTIONS, endProblems, endReaders, RAMP_OPTION, RAMP_READER } from '../steering/coming-back.ts'
import { wrap, type Page } from '../terminal/page.ts'
import { controlsPage, controlTable } from './control-page.ts'
import { actorsOf, LEVEL_NAMES, sayControl, sayEnd, sayScope, sayWhat } from './say-control.ts'

/** Behind the sign stands its name. */
const SCOPES = ['all', 'destination=', 'policy=', 'tenant=']

const onCommand: Command = remoteCommand({
  path: ['kill', 'on'],
  summary: 'stops retries, or all that is sent, or what comes in; nothing is dropped',
  options: [
    { flag: '--level <level>', say: 'how much of it (retries-off)', choices: LEVEL_NAMES },
    { flag: '--scope <scope>', say: 'for what, by its origin or name (all)', choices: SCOPES },
    ...END_OPTIONS,
    RAMP_OPTION,
    REASON_OPTION,
    { flag: '--dry-run', say: 'only say what it would hold' },
    YES_OPTION,
  ],
  examples: [
    'kill on --level retries-off --for 30min --reason INC-2231 --dry-run',
    'kill on --level dispatch-off --scope destination=https://api.pay.example --reason INC-2231',
  ],
  isChange: true,
  run: switchOn,
})

const scope: Reader<ControlScope> = given => {
  const [, kind, name = ''] = /^(all|destination|policy|tenant)(?:=(.+))?$/.exec(String(given)) ?? []
  if (kind === 'all' && name === '') return { value: { kind } }
  if (kind === 'destination' && name !== '') return { value: { kind, destination: name } }
  if (kind === 'policy' && name !== '') return { value: { kind, policyId: name } }
  if (kind === 'tenant' && name !== '') return { value: { kind, tenant: name } }
  return { must: 'all, destination=<origin>, policy=<name> or tenant=<name>' }
}

async function switchOn(call: RemoteCall): Promise<Answer> {
  const { client, options, clock, terminal, typed } = call
  const input = await withKnownScope(readInput(call), call)
  const preview = await client.controls.preview(input)
  const meant = input.scope.kind === 'destination' ? await tellNeverUsed(input.scope.destination, call) : []
  const { dryRun } = readOptions(options, { dryRun: isOn })
  const shows = ({ columns }: Pick<Page, 'columns'>): string =>
    [sayControl(preview, clock.now()), sayHolds(preview)].map(line => wrap(line, columns)).join('\n')
  if (dryRun) return { data: preview, show: shows, verdict: 'Nothing was changed.', next: meant }
  await confirm(call, {
    ask: `switch on ${input.level}`,
    shows: shows(terminal.err),
    // The one that turns producers away is not said yes to by habit.
    ...(input.level === 'intake-off' && { word: 'intake-off' }),
  })
  const control = await client.controls.create(input)
  return {
    data: control,
    // What it holds has been shown, before the yes.
    show: ({ columns }) => wrap(`switched on ${control.controlId}: ${sayWhat(control, clock.now())}`, columns),
    verdict: 'It is in force within two seconds.',
    next: [...meant, typed('kill', 'off', control.controlId)],
  }
}

function readInput({ options, clock }: RemoteCall): ControlInput {
  const {
    level,
    scope: where,
    for: forMs,
    until,
    ramp: rampMs,
  } = readOptions(
    options,
    {
      level: withDefault('retries-off', oneOf(...LEVEL_NAMES)),
      scope: withDefault<ControlScope>({ kind: 'all' }, scope),
      ...endReaders(clock.now()),
      ramp: RAMP_READER,
    },
    endProblems(options),
  )
  const { reason } = reasonOf(options)
  if (reason === undefined)
    throw usageFailure({
      code: 'missing-option',
      what: 'a kill switch needs a reason',
      because: ['Whoever finds it on must know why.'],
      next: ['add  --reason <text>'],
    })
  return { level, scope: where, reason, ...given({ forMs, expiresAt: until, rampMs }) }
}

async function withKnownScope(input: ControlInput, call: RemoteCall): Promise<ControlInput> {
  const { scope: where } = input
  if (where.kind !== 'destination') return input
  return { ...input, scope: { ...where, destination: await knownDestination(where.destination, call) } }
}

function sayHolds({ level, holds }: Control | ControlPreview): string {
  if (level === 'intake-off') return 'holds nothing; whoever hands a task over is told to come back later'
  if (holds === undefined) return ''
  const { waitingTasks, lanes, isExact } = holds
  return `holds ${isExact ? '' : 'up to '}${sayCount(waitingTasks, 'task')} of ${sayCount(lanes, 'destination')}; none is dropped, and no attempt is spent`
}

const offCommand: Command = remoteCommand({
  path: ['kill', 'off'],
  summary: 'ends one; what it held comes back step by step',
  arguments: [{ usage: '[controlId]', say: 'as kill status has it; needed where several are on' }],
  options: [REASON_OPTION],
  examples: ['kill off'],
  isChange: true,
  run: async call => {
    const { client, args, options, typed } = call
    const [named] = args as readonly [string?]
    const control = named === undefined ? await onlyOne(call) : await client.controls.get(named)
    if (!control.isInForce) throw await hasEnded(control, call)
    const { controlId, version } = control
    const ended = await asItWasRead(
      () => client.controls.end(controlId, reasonOf(options), { ifVersion: version }),
      async () => {
        const now = await client.controls.get(controlId)
        if (!now.isInForce) throw await hasEnded(now, call)
      },
    )
    return {
      data: ended,
      show: ({ columns }) => wrap(`ended ${ended.level} for ${sayScope(ended.scope)} (${ended.reason})`, columns),
      verdict: ended.level === 'intake-off' ? 'Tasks are taken in again.' : 'What it held comes back step by step.',
      next: [typed('destinations', 'list')],
    }
  },
})

/** Which one was meant must not be guessed. */
async function onlyOne({ client, clock, typed }: RemoteCall): Promise<Control> {
  const { items } = await client.controls.list().page({ limit: MOST_SHOWN })
  const [first, ...others] = items
  if (first === undefined)
    throw new Failure({
      code: 'nothing-to-end',
      what: 'no kill switch is on',
      because: ['There is nothing to end.'],
      so: 'Nothing was changed.',
      next: [typed('kill', 'status')],
      exitCode: EXIT_CODES.conflict,
    })
  if (others.length === 0) return first
  throw new Failure({
    code: 'several-switches',
    what: 'several kill switches are on: say which one to end',
    because: items.map(one => `${one.controlId}: ${sayWhat(one, clock.now())} (${one.reason})`),
    so: 'Nothing was changed.',
    next: [...items.map(({ controlId }) => typed('kill', 'off', controlId)), typed('kill', 'status')],
    exitCode: EXIT_CODES.usage,
  })
}

/** There are seldom more than two; `kill status` has them all. */
const MOST_SHOWN = 10

/** Nobody is told to have ended what somebody else, or its own time, has ended before. */
async function hasEnded(control: Control, call: RemoteCall): Promise<Failure> {
  const { clock, typed } = call
  const nameOf = await namesOf(actorsOf(control), call)
  return new Failure({
    code: 'nothing-to-end',
    what: 'this kill switch is off already',
    because: [`${control.level} for ${sayScope(control.scope)}: ${sayEnd(control, { now: clock.now(), nameOf })}.`],
    so: 'Nothing was changed.',
    next: [typed('kill', 'status')],
    exitCode: EXIT_CODES.conflict,
  })
}

const statusCommand: Command = remoteCommand({
  path: ['kill', 'status'],
  summary: 'what is switched off now, by whom, why and until when',
  options: [{ flag: '--ended', say: 'also what ended within the last day' }, ...LIST_OPTIONS],
  examples: ['kill status'],
  run: call => {
    const { ended } = readOptions(call.options, { ended: isOn })
    return answerList(
      call,
      {
        listing: call.client.controls.list(ended ? { ended } : {}),
        idOf: ({ controlId }) => controlId,
        tableOf: controls => controlTable(controls, call.clock.now()),
        showOf: controls => controlsPage(controls, call),
        noun: 'kill switch is on',
      },
      controls => ({
        next: controls
          .filter(({ isInForce }) => isInForce)
          .map(({ controlId }) => call.typed('kill', 'off', controlId)),
      }),
    )
  },
})

export const KILL: readonly Command[] = [onCommand, offCommand, statusCommand]
