import { advise, type Advice, type Answers } from '@secondwind/lab'
import { existsSync } from 'node:fs'
import type { Answer, Call, Command, GivenOption, GivenOptions } from '../command.ts'
import { usageFailure } from '../failure.ts'
import {
  duration,
  flagOf,
  oneOf,
  optional,
  optionProblems,
  perSecond,
  readOptions,
  text,
  withDefault,
  wrongOptions,
  yesOrNo,
} from '../input/read-options.ts'
import { typed, typedWith } from '../input/typed.ts'
import { freePath, outputPath } from '../output/output-file.ts'
import { labelled, wrap, type Page } from '../terminal/page.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { aloneProblems, bothOrNeither } from './capacity.ts'

const READERS = {
  operation: oneOf('read', 'write'),
  idempotent: yesOrNo,
  userFacing: yesOrNo,
  rateLimited: yesOrNo,
  critical: yesOrNo,
  otherRegion: yesOrNo,
  latencyBudget: duration(10, 604_800_000),
  load: perSecond(),
  capacity: perSecond(),
}
const FILE_READERS = { name: withDefault('advised', text()), write: outputPath }

interface Question {
  readonly name: keyof typeof READERS
  readonly flag: string
  readonly ask: string
  /** An empty answer means that nobody knows. */
  readonly mayBeUnknown?: true
}

const QUESTIONS: readonly Question[] = [
  { name: 'operation', flag: '<read|write>', ask: 'does it read or write' },
  { name: 'idempotent', flag: '<yes|no>', ask: 'is doing it twice the same as doing it once' },
  { name: 'userFacing', flag: '<yes|no>', ask: 'does a person wait for it' },
  { name: 'rateLimited', flag: '<yes|no>', ask: 'does the dependency limit how often it is called' },
  { name: 'critical', flag: '<yes|no>', ask: 'does a failure cost more than a wait' },
  { name: 'otherRegion', flag: '<yes|no>', ask: 'is the dependency in another region' },
  {
    name: 'latencyBudget',
    flag: '<duration>',
    ask: 'how long may all of it take, such as 5s',
    mayBeUnknown: true,
  },
  { name: 'load', flag: '<rate>', ask: 'calls on a usual day, such as 300/s', mayBeUnknown: true },
  { name: 'capacity', flag: '<rate>', ask: 'calls that it can serve', mayBeUnknown: true },
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

async function adviseOn({ words, options, terminal }: Call): Promise<Answer> {
  refuseExisting(options['write'], words)
  const answered = await askForMissing(options, terminal)
  const { name, write, load, capacity, latencyBudgetMs, ...known } = readAnswers(answered)
  const pair = bothOrNeither(load, capacity)
  const answers: Answers = {
    ...known,
    ...(latencyBudgetMs === undefined ? {} : { latencyBudgetMs }),
    ...(pair === undefined ? {} : { capacity: pair }),
  }
  const advice = advise(answers, name)
  const content = (): string => `${JSON.stringify(advice.policy, undefined, 2)}\n`
  return {
    data: { answers, ...advice },
    show: page => showAdvice(advice, page),
    next: [typed(write === undefined ? sameAnswers(answered, name) : ['lab', 'explain', write])],
    files: write === undefined ? [] : [{ path: write, content, isNew: true }],
  }
}

/** The command that asks nothing, and writes what was advised. */
function sameAnswers(answered: GivenOptions, name: string): readonly string[] {
  const flags = QUESTIONS.flatMap(question => {
    const answer = answered[question.name]
    return typeof answer === 'string' ? [flagOf(question.name), answer] : []
  })
  return ['lab', 'advise', ...flags, '--name', name, '--write', freePath(`${name}.json`)]
}

function readAnswers(answered: GivenOptions): Omit<Answers, 'capacity' | 'latencyBudgetMs'> & {
  readonly latencyBudgetMs: number | undefined
  readonly load: number | undefined
  readonly capacity: number | undefined
  readonly name: string
  readonly write: string | undefined
} {
  const { latencyBudget: latencyBudgetMs, ...others } = readOptions(answered, {
    ...READERS,
    latencyBudget: optional(READERS.latencyBudget),
    load: optional(READERS.load),
    capacity: optional(READERS.capacity),
    ...FILE_READERS,
  })
  return { ...others, latencyBudgetMs }
}

/** On a terminal what is missing is asked for; elsewhere every missing flag is named, and nothing is guessed. */
async function askForMissing(given: GivenOptions, terminal: Terminal): Promise<GivenOptions> {
  const missing = QUESTIONS.filter(({ name }) => given[name] === undefined)
  const needed = missing.filter(({ mayBeUnknown }) => !mayBeUnknown)
  const { ask, tell } = terminal
  refuseWrong(given, ask === undefined ? needed : [])
  if (needed.length === 0) return given
  if (ask === undefined)
    throw usageFailure({
      code: 'cannot-ask',
      what: `${needed.length} ${needed.length === 1 ? 'question has' : 'questions have'} no answer`,
      because: ['stdin is not a terminal, so they cannot be asked.'],
      next: needed.map(({ name, flag }) => `add  ${flagOf(name)} ${flag}`),
    })
  const answers: { [name: string]: GivenOption } = { ...given }
  for (const question of missing) answers[question.name] = await askOne(question, ask, tell)
  return answers
}

/** Before anything is asked: nobody answers nine questions to hear then that the tenth was wrong from the beginning. */
function refuseWrong(given: GivenOptions, missing: readonly Question[]): void {
  const readers = Object.entries(READERS).map(([name, read]) => [name, optional<unknown>(read)] as const)
  const wrong = [
    ...optionProblems(given, { ...Object.fromEntries(readers), ...FILE_READERS }),
    ...(missing.length > 0 ? aloneProblems(given) : []),
  ]
  if (wrong.length === 0) return
  const unanswered = missing.map(({ name, flag }) => ({ at: flagOf(name), is: undefined, say: `is missing: ${flag}` }))
  throw wrongOptions([...wrong, ...unanswered])
}

/** Three wrong answers are enough: whoever holds the keyboard is not reading the question. */
const PATIENCE = 3

async function askOne(
  { name, flag, ask: question, mayBeUnknown }: Question,
  ask: (question: string) => Promise<string>,
  tell: Terminal['tell'],
): Promise<string | undefined> {
  for (let time = 0; time < PATIENCE; time++) {
    const answer = (await ask(`${question}? ${mayBeUnknown ? '(empty: unknown) ' : ''}`)).trim()
    if (answer === '' && mayBeUnknown) return undefined
    const answerRead = READERS[name](answer)
    if ('value' in answerRead) return answer
    tell(`must be ${answerRead.must}\n`)
  }
  throw usageFailure({
    code: 'cannot-ask',
    what: `"${question}" got no answer`,
    because: [`${PATIENCE} answers could not be read.`],
    next: [`add  ${flagOf(name)} ${flag}`],
  })
}

function refuseExisting(path: GivenOption, words: readonly string[]): void {
  if (typeof path !== 'string' || !existsSync(path)) return
  throw usageFailure({
    code: 'file-exists',
    what: `${path} is there already`,
    because: ['A policy is not written over another.'],
    next: [typedWith(words, '--write', freePath(path))],
  })
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
    ...(besides.length > 0
      ? [colors.dim('besides'), besides.map(line => wrap(`  ${line}`, columns, '  ')).join('\n')]
      : []),
  ].join('\n\n')
}
