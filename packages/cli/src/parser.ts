import { Command as Parser, type CommanderError } from 'commander'
import type { Call, Command, GivenOptions } from './command.ts'
import { usageFailure, type Failure } from './failure.ts'
import { typed } from './input/typed.ts'
import type { Terminal } from './terminal/terminal.ts'
import { VERSION } from './version.ts'

type Run = (command: Command, read: Pick<Call, 'args' | 'options' | 'unknown'>) => Promise<void>

/** The tree of commands: nouns, and below them their verbs. It throws what it cannot read, and prints nothing but help. */
export function createParser(
  commands: readonly Command[],
  { write, tell, out, err }: Pick<Terminal, 'write' | 'tell' | 'out' | 'err'>,
  run: Run,
): Parser {
  const program = new Parser('secondwind')
    .description('Retries that recover instead of pile on.')
    .version(VERSION, '-V, --version', 'the version; so does version')
    .helpOption('-h, --help', 'this help; so does help [command]')
    .helpCommand(false)
    .configureOutput({
      writeOut: write,
      writeErr: tell,
      outputError: () => undefined,
      getOutHelpWidth: () => out.columns,
      getErrHelpWidth: () => err.columns,
    })
    // What each takes stands in its own help; here there is room for what it does.
    .configureHelp({ subcommandTerm: command => command.name(), minWidthToWrap: 20 })
    // What follows a verb is the verb's, also where its noun is a command itself and has the same option.
    .enablePositionalOptions()
    .exitOverride()
  for (const command of commands) addCommand(program, command, run)
  return program
}

function addCommand(program: Parser, command: Command, run: Run): void {
  const { path, summary, arguments: args = [], options = [], examples, tellsUnknown = false } = command
  const group = path.slice(0, -1).reduce(groupOf, program)
  const parser = group.command(path.at(-1)!).description(summary).copyInheritedSettings(group)
  parser.allowUnknownOption(tellsUnknown).allowExcessArguments(tellsUnknown)
  for (const { usage, say } of args) parser.argument(usage, say)
  const common = COMMON_OPTIONS.filter(({ flag }) => !options.some(own => own.flag === flag))
  for (const { flag, say, choices, isRepeatable } of [...options, ...common]) {
    const text = choices === undefined ? say : `${say}: ${choices.join(', ')}`
    if (isRepeatable) parser.option(flag, text, gather)
    else parser.option(flag, text)
  }
  parser
    .addHelpText('after', `\nExamples:\n${examples.map(line => `  $ secondwind ${line}`).join('\n')}`)
    .action(async (...given: unknown[]) => {
      await run(command, {
        args: given.slice(0, args.length) as Call['args'],
        options: parser.opts<GivenOptions>(),
        unknown: tellsUnknown ? parser.args.slice(args.length) : [],
      })
    })
}

function gather(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value]
}

/** What every command takes. */
export const COMMON_OPTIONS: NonNullable<Command['options']> = [
  { flag: '--json', say: 'one JSON document on stdout' },
  { flag: '--no-color', say: 'no colours; so does NO_COLOR' },
  { flag: '--ascii', say: 'plain characters only; so does TERM=dumb' },
]

const GROUPS: { readonly [word: string]: string } = {
  tasks: 'requests that the service was handed: see them, steer them',
  bodies: 'large bodies, uploaded once and named by tasks',
  dead: 'tasks that were given up, by what they died of',
  replay: 'many dead letters brought back: a plan to read first, then its run',
  destinations: 'what is called: gates, backlog, and what retrying costs',
  kill: 'the kill switch: stop retries, or everything; nothing is dropped',
  policies: 'the policies that the service keeps, with their versions',
  keys: 'who may do what',
  secrets: 'what deliveries are signed with',
  tenants: 'those who share a service, each with room of its own',
  lab: 'predict what a policy will do, before it is rolled out',
}

function groupOf(parent: Parser, word: string): Parser {
  return (
    parent.commands.find(command => command.name() === word) ??
    parent
      .command(word)
      .copyInheritedSettings(parent)
      .description(GROUPS[word] ?? '')
      .helpCommand(false)
  )
}

interface Unread {
  readonly words: readonly string[]
  /** Those of them that name a command, or at least its noun. */
  readonly called: readonly string[]
  readonly commands: readonly Command[]
}

/** What the parser could not read, in our words: what was perhaps meant, and the help that tells what it takes. */
export function unreadable({ code, message }: CommanderError, unread: Unread): Failure {
  const [what = '', hint] = message.replace(/^error: /, '').split('\n')
  const meant = /Did you mean (?:one of )?(.+)\?/.exec(hint ?? '')?.[1]
  const ownCode = code.replace(/^commander\./, '').replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
  const better = BETTER[ownCode]?.(unread, what)
  const because = better?.say ?? (meant === undefined ? BECAUSE[ownCode] : `Did you mean ${meant}?`)
  return usageFailure({
    code: ownCode,
    what: better?.what ?? what,
    because: [because ?? 'The command line does not say what to do.'],
    next: [...(better === undefined ? [] : better.lines), typed([...unread.called, '--help'])],
  })
}

/** What can be said of this very command. */
interface Better {
  readonly what?: string
  readonly say: string
  readonly lines: readonly string[]
}

const BETTER: { readonly [code: string]: (unread: Unread, what: string) => Better | undefined } = {
  'excess-arguments': flaggedWord,
  'missing-argument': missingArgument,
  'unknown-command': commandOfItsOwn,
  'unknown-option': unread => flagTooEarly(unread) ?? choiceAsFlag(unread),
}

const BECAUSE: { readonly [code: string]: string | undefined } = {
  'excess-arguments': 'There are more words than it takes: what has a space needs quotes, and values need their flag.',
  'unknown-option': 'It has no such option.',
  'unknown-command': 'There is no such command.',
  'option-missing-argument': 'The option says nothing without its value.',
}

/** A word too many that is a value of one of its options: only the flag is missing. */
function flaggedWord({ words, called, commands }: Unread): Better | undefined {
  const { options = [] } = commandOf(called, commands) ?? {}
  for (const [at, word] of words.entries()) {
    const flag = options.find(({ choices }) => choices?.includes(word))?.flag.split(' ')[0]
    if (flag === undefined || words[at - 1]?.startsWith('-')) continue
    return {
      say: `Did you mean ${flag} ${word}?`,
      lines: [typed(words.flatMap(one => (one === word ? [flag, word] : [one])))],
    }
  }
  return undefined
}

/** `destinations pause`, which is `pause` alone. */
function commandOfItsOwn({ words, called, commands }: Unread): Better | undefined {
  const meant = words.slice(called.length)
  if (called.length === 0 || commandOf(meant.slice(0, 1), commands) === undefined) return undefined
  return { say: `${meant[0]} is a command of its own.`, lines: [typed(meant)] }
}

/** Before its command, and between its words, nobody knows whose it is. */
function flagTooEarly({ words, commands }: Unread): Better | undefined {
  const lines = commands.flatMap(command => inOrder(words, command) ?? [])
  const longest = lines.toSorted((one, other) => other.path.length - one.path.length)[0]
  const [flag] = longest?.early ?? []
  if (longest === undefined || flag === undefined) return undefined
  const { path, early, others } = longest
  return { say: `${flag.split('=')[0]} stands behind its command.`, lines: [typed([...path, ...others, ...early])] }
}

/** `--destination <origin>`, which is `--scope destination=<origin>` here. */
function choiceAsFlag({ words, called, commands }: Unread): Better | undefined {
  const { options = [] } = commandOf(called, commands) ?? {}
  for (const [at, word] of words.entries()) {
    const [, name, joined] = /^--([a-z-]+)(?:=(.+))?$/.exec(word) ?? []
    const flag = options.find(({ choices }) => choices?.includes(`${name}=`))?.flag.split(' ')[0]
    const value = joined ?? words[at + 1]
    if (flag === undefined || value === undefined) continue
    const rest = words.slice(at + (joined === undefined ? 2 : 1))
    return {
      say: `Did you mean ${flag} ${name}=${value}?`,
      lines: [typed([...words.slice(0, at), flag, `${name}=${value}`, ...rest])],
    }
  }
  return undefined
}

interface InOrder {
  readonly path: readonly string[]
  /** What stands before the last word of the command, and is one of its options. */
  readonly early: readonly string[]
  readonly others: readonly string[]
}

/** Undefined where something else stands there: it is not this command that was meant. */
function inOrder(words: readonly string[], { path, options = [] }: Command): InOrder | undefined {
  const early: string[] = []
  let at = 0
  for (const name of path) {
    while (at < words.length && words[at] !== name) {
      const [flag, value] = words[at]!.split('=')
      const option = [...options, ...COMMON_OPTIONS].find(one => one.flag.split(' ')[0] === flag)
      if (option === undefined) return undefined
      const count = option.flag.includes(' ') && value === undefined ? 2 : 1
      early.push(...words.slice(at, at + count))
      at += count
    }
    if (at >= words.length) return undefined
    at++
  }
  return { path, early, others: words.slice(at) }
}

/** What it looks like, and where to find one. */
function missingArgument({ called, commands }: Unread, what: string): Better | undefined {
  const [, name = ''] = /'(.+)'/.exec(what) ?? []
  const argument = commandOf(called, commands)?.arguments?.find(({ usage }) => /[\w-]+/.exec(usage)?.[0] === name)
  if (argument === undefined) return undefined
  const { usage, say, choices } = argument
  const values = choices === undefined ? '' : `: ${choices.join(', ')}`
  return {
    what: `${usage} must be given`,
    say: `${usage} is ${say}${values}.`,
    lines: (WHERE_TO_FIND[name] ?? []).map(line => `secondwind ${line}`),
  }
}

/** By the name of the argument. */
const WHERE_TO_FIND: { readonly [argument: string]: readonly string[] | undefined } = {
  taskId: ['tasks list'],
  causeId: ['dead causes'],
  replayId: ['replay list'],
  name: ['destinations list'],
  policyId: ['policies list'],
  keyId: ['keys list'],
  secretId: ['secrets list'],
  tenant: ['tenants list'],
}

function commandOf(called: readonly string[], commands: readonly Command[]): Command | undefined {
  return commands.find(({ path }) => path.join(' ') === called.join(' '))
}
