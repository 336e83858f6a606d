import { advise, type Advice, type Answers } from '@secondwind/lab'
import { existsSync } from 'node:fs'
import type { Answer, Call, Command, GivenOptions } from '../command.ts'
import { usageFailure } from '../failure.ts'
import {
  duration,
  flagOf,
  oneOf,
  optional,
  perSecond,
  readOptions,
  text,
  withDefault,
  yesOrNo,
  type Reader,
} from '../input/read-options.ts'
import { typed } from '../input/typed.ts'
import { writeOutput } from '../output/write-output.ts'
import { labelled, type Page } from '../terminal/page.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { bothOrNeither } from './capacity.ts'

interface Question {
  readonly name: string
  readonly flag: string
  readonly ask: string
  readonly read: Reader<unknown>
  /** An empty answer means that nobody knows. */
  readonly mayBeUnknown?: true
}

const latencyBudget = duration(10, 604_800_000)
const QUESTIONS: readonly Question[] = [
  { name: 'operation', flag: '<read|write>', ask: 'does it read or write', read: oneOf('read', 'write') },
  { name: 'idempotent', flag: '<yes|no>', ask: 'is doing it twice the same as doing it once', read: yesOrNo },
  { name: 'userFacing', flag: '<yes|no>', ask: 'does a person wait for it', read: yesOrNo },
  { name: 'rateLimited', flag: '<yes|no>', ask: 'does the dependency limit how often it is called', read: yesOrNo },
  { name: 'critical', flag: '<yes|no>', ask: 'does a failure cost more than a wait', read: yesOrNo },
  { name: 'otherRegion', flag: '<yes|no>', ask: 'is the dependency in another region', read: yesOrNo },
  {
    name: 'latencyBudget',
    flag: '<duration>',
    ask: 'how long may all of it take, such as 5s',
    read: latencyBudget,
    mayBeUnknown: true,
  },
  { name: 'load', flag: '<rate>', ask: 'calls on a usual day, such as 300/s', read: perSecond(), mayBeUnknown: true },
  { name: 'capacity', flag: '<rate>', ask: 'calls that it can serve', read: perSecond(), mayBeUnknown: true },
]

export const adviseCommand: Command = {
  path: ['lab', 'advise'],
  summary: 'a policy for a call, with a reason for every field',
  options: [
    ...QUESTIONS.map(({ name, flag, ask }) => ({ flag: `${flagOf(name)} ${flag}`, say: ask })),
    { flag: '--name <name>', say: 'the name of the policy' },
    { flag: '--write <file>', say: 'write the policy to a new file' },
  ],
  examples: [
    'lab advise',
    'lab advise --operation write --idempotent yes --user-facing yes --rate-limited no --critical yes --other-region no --write payments.json',
  ],
  run: adviseOn,
}

async function adviseOn({ options, terminal }: Call): Promise<Answer> {
  const answered = await askForMissing(options, terminal)
  const { name, write, load, capacity, latencyBudgetMs, ...known } = readAnswers(answered)
  const pair = bothOrNeither(load, capacity)
  const answers: Answers = {
    ...known,
    ...(latencyBudgetMs === undefined ? {} : { latencyBudgetMs }),
    ...(pair === undefined ? {} : { capacity: pair }),
  }
  const advice = advise(answers, name)
  if (write !== undefined) await writeNew(write, advice.policy)
  return {
    data: { answers, ...advice },
    show: page => showAdvice(advice, page),
    next: [write === undefined ? typed(sameAnswers(answered, name)) : `secondwind lab explain ${write}`],
  }
}

/** The command that asks nothing, and writes what was advised. */
function sameAnswers(answered: GivenOptions, name: string): readonly string[] {
  const flags = QUESTIONS.flatMap(question => {
    const answer = answered[question.name]
    return typeof answer === 'string' ? [flagOf(question.name), answer] : []
  })
  return ['lab', 'advise', ...flags, '--name', name, '--write', `${name}.json`]
}

function readAnswers(answered: GivenOptions): Omit<Answers, 'capacity' | 'latencyBudgetMs'> & {
  readonly latencyBudgetMs: number | undefined
  readonly load: number | undefined
  readonly capacity: number | undefined
  readonly name: string
  readonly write: string | undefined
} {
  const { latencyBudget: latencyBudgetMs, ...others } = readOptions(answered, {
    operation: oneOf('read', 'write'),
    idempotent: yesOrNo,
    userFacing: yesOrNo,
    rateLimited: yesOrNo,
    critical: yesOrNo,
    otherRegion: yesOrNo,
    latencyBudget: optional(latencyBudget),
    load: optional(perSecond()),
    capacity: optional(perSecond()),
    name: withDefault('advised', text()),
    write: optional(text()),
  })
  return { ...others, latencyBudgetMs }
}

/** On a terminal what is missing is asked for; elsewhere every missing flag is named, and nothing is guessed. */
async function askForMissing(given: GivenOptions, terminal: Terminal): Promise<GivenOptions> {
  const missing = QUESTIONS.filter(({ name }) => given[name] === undefined)
  const needed = missing.filter(({ mayBeUnknown }) => !mayBeUnknown)
  if (needed.length === 0) return given
  const { ask, tell } = terminal
  if (ask === undefined)
    throw usageFailure({
      code: 'cannot-ask',
      what: `${needed.length} ${needed.length === 1 ? 'question has' : 'questions have'} no answer`,
      because: ['stdin is not a terminal, so they cannot be asked.'],
      next: needed.map(({ name, flag }) => `add  ${flagOf(name)} ${flag}`),
    })
  const answers: { [name: string]: string | boolean | undefined } = { ...given }
  for (const question of missing) answers[question.name] = await askOne(question, ask, tell)
  return answers
}

/** Three wrong answers are enough: whoever holds the keyboard is not reading the question. */
const PATIENCE = 3

async function askOne(
  { name, ask: question, read, mayBeUnknown }: Question,
  ask: (question: string) => Promise<string>,
  tell: Terminal['tell'],
): Promise<string | undefined> {
  for (let time = 0; time < PATIENCE; time++) {
    const answer = (await ask(`${question}? ${mayBeUnknown ? '(empty: unknown) ' : ''}`)).trim()
    if (answer === '' && mayBeUnknown) return undefined
    const answerRead = read(answer)
    if ('value' in answerRead) return answer
    tell(`must be ${answerRead.must}\n`)
  }
  throw usageFailure({
    code: 'cannot-ask',
    what: `"${question}" got no answer`,
    because: [`${PATIENCE} answers could not be read.`],
    next: [`secondwind lab advise ${flagOf(name)} …`],
  })
}

async function writeNew(path: string, policy: object): Promise<void> {
  if (existsSync(path))
    throw usageFailure({
      code: 'file-exists',
      what: `${path} is there already`,
      because: ['A policy is not written over another.'],
      next: [`rm ${path}`],
    })
  await writeOutput(path, `${JSON.stringify(policy, undefined, 2)}\n`, { flag: 'wx' })
}

function showAdvice({ policy, reasons, besides }: Advice, { columns, colors }: Page): string {
  const longest = Math.max(...reasons.map(({ at, is }) => `${at} ${is}`.length))
  const lines = reasons.map(({ at, is, because }) => {
    const label = `${at} ${' '.repeat(longest - `${at} ${is}`.length)}${is}`
    return labelled(`  ${label}`, because, { columns, width: longest + 5 })
  })
  return [
    JSON.stringify(policy, undefined, 2),
    colors.dim('why'),
    lines.join('\n'),
    ...(besides.length > 0 ? [colors.dim('besides'), besides.map(line => `  ${line}`).join('\n')] : []),
  ].join('\n\n')
}
