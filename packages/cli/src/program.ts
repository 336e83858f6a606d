/** From words to a command, and from its answer, or its failure, to the streams and an exit code. */
import { redactText } from '@secondwind/client'
import { CommanderError } from 'commander'
import type { Answer, Command, GivenOptions } from './command.ts'
import { EXIT_CODES } from './exit-codes.ts'
import { bugFailure, describeFailure, Failure, failureDocument } from './failure.ts'
import { typed } from './input/typed.ts'
import { refuseTwoForms } from './output/forms.ts'
import { writeFiles } from './output/output-file.ts'
import { createParser, unreadable } from './parser.ts'
import { createPage, plain, wrap } from './terminal/page.ts'
import { commaSeparated, tabSeparated } from './terminal/table.ts'
import { InterruptedError, type Terminal } from './terminal/terminal.ts'
import { guarded, visible } from './terminal/visible.ts'

/** The exit code; nothing is thrown, not even what is a bug of ours. */
export async function runProgram(
  typedWords: readonly string[],
  commands: readonly Command[],
  unguarded: Terminal,
): Promise<number> {
  const words = asMeant(typedWords, commands)
  const usual = guarded(unguarded)
  // As for a terminal that knows no others: whatever a command writes by itself keeps to them, too.
  const terminal = words.includes('--ascii') ? inAscii(usual) : usual
  let exitCode: number = EXIT_CODES.done
  const parser = createParser(commands, terminal, async (command, read) => {
    const { options } = read
    refuseTwoForms(options, words)
    const answer = await command.run({ words, ...read, terminal })
    if (typeof answer === 'number') {
      exitCode = answer
      return
    }
    giveAnswer(answer, options, terminal)
    await writeFiles(answer.files ?? [], terminal)
    if (!isForPrograms(options)) giveNext(answer.next ?? [], tellerOf(terminal))
    exitCode = answer.exitCode ?? EXIT_CODES.done
  })
  try {
    await parser.parseAsync(words, { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof InterruptedError) {
      terminal.tell('nothing was done\n')
      return EXIT_CODES.interrupted
    }
    const called = calledOf(words, commands)
    if (error instanceof Failure) return giveFailure(error.withNext(typed([...called, '--help'])), words, terminal)
    if (!(error instanceof CommanderError)) return giveFailure(bugFailure(error), words, terminal)
    if (error.exitCode === 0) return EXIT_CODES.done
    // A noun without a verb has been answered with its verbs.
    if (error.code === 'commander.help') return EXIT_CODES.usage
    return giveFailure(unreadable(error, { words, called, commands }), words, terminal)
  }
}

/** `help lab run` is `lab run --help`, and so is `lab help run`; `--version` is `version`. */
function asMeant(words: readonly string[], commands: readonly Command[]): readonly string[] {
  const isWhole = (called: readonly string[]): boolean =>
    commands.some(({ path }) => path.join(' ') === called.join(' '))
  const called = calledOf(words, commands)
  // Behind a whole command it is one of its own words.
  if (isWhole(called)) return words
  const [word, ...others] = words.slice(called.length)
  if (called.length === 0 && (word === '--version' || word === '-V')) return ['version', ...others]
  if (word !== 'help') return words
  const asked = [...called, ...others]
  const known = calledOf(asked, commands)
  // What nobody knows is told as without the word.
  return known.length === asked.length || isWhole(known) ? [...known, '--help'] : asked
}

/** The words with which a command, or at least its noun, was called. */
function calledOf(words: readonly string[], commands: readonly Command[]): readonly string[] {
  const known = (count: number): boolean =>
    commands.some(({ path }) => count <= path.length && path.slice(0, count).every((word, at) => word === words[at]))
  const unknown = words.findIndex((_, at) => !known(at + 1))
  return unknown < 0 ? words : words.slice(0, unknown)
}

/** Nobody reads a hint beside a document. */
function isForPrograms(options: GivenOptions): boolean {
  return options['json'] === true || options['ndjson'] === true || options['ids'] === true
}

function giveAnswer(answer: Answer, options: GivenOptions, terminal: Terminal): void {
  try {
    writeAnswer(answer, options, terminal)
  } catch (error) {
    throw answer.failed?.(error) ?? error
  }
}

function writeAnswer(answer: Answer, options: GivenOptions, terminal: Terminal): void {
  const { data, table, csv = table, items, ids, word, bytes, show, verdict } = answer
  const { write, out } = terminal
  const lines =
    options['ids'] === true
      ? ids?.map(visible)
      : options['ndjson'] === true
        ? items?.map(item => JSON.stringify(item))
        : undefined
  if (lines !== undefined) return write(lines.map(line => `${line}\n`).join(''))
  if (options['json'] === true) {
    const document = verdict === undefined ? data : { ...(data as object), verdict }
    return write(`${JSON.stringify(document, undefined, 2)}\n`)
  }
  if (bytes !== undefined && !out.isTerminal) return terminal.writeBytes(bytes)
  const forPrograms = word === undefined ? table && tabSeparated(table) : visible(word)
  const rows = options['csv'] === true ? csv && commaSeparated(csv) : out.isTerminal ? undefined : forPrograms
  if (rows !== undefined) {
    write(`${rows}\n`)
    if (verdict !== undefined) tellerOf(terminal)(`${verdict}\n`)
  } else {
    const page = createPage({
      columns: out.columns,
      hasColors: out.hasColors && options['color'] !== false,
      isAscii: out.isAscii,
    })
    const text = [show(page), ...(verdict === undefined ? [] : ['', wrap(verdict, page.columns)]), ''].join('\n')
    write(page.isAscii ? plain(text) : text)
  }
}

function giveNext(next: readonly string[], tell: Terminal['tell']): void {
  for (const [index, line] of next.entries()) tell(`${index === 0 ? '\ntry  ' : '     '}${visible(line)}\n`)
}

function tellerOf({ tell, err }: Terminal): Terminal['tell'] {
  return err.isAscii ? text => tell(plain(text)) : tell
}

function inAscii(terminal: Terminal): Terminal {
  return { ...terminal, out: { ...terminal.out, isAscii: true }, err: { ...terminal.err, isAscii: true } }
}

/** On stderr, as words or with `--json` as a document; the exit code that goes with it. */
export function giveFailure(failure: Failure, words: readonly string[], { tell }: Pick<Terminal, 'tell'>): number {
  const isDocument = ['--json', '--ndjson'].some(flag => words.includes(flag))
  const said = isDocument ? `${JSON.stringify(failureDocument(failure))}\n` : describeFailure(failure)
  // What was typed in a wrong place is repeated by whoever cannot read it, the parser included.
  tell(redactText(said))
  return failure.parts.exitCode
}
