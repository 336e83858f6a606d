/** From words to a command, and from its answer, or its failure, to the streams and an exit code. */
import { CommanderError } from 'commander'
import type { Answer, Command, GivenOptions } from './command.ts'
import { EXIT_CODES } from './exit-codes.ts'
import { describeFailure, Failure, failureDocument } from './failure.ts'
import { createParser, unreadable } from './parser.ts'
import { createPage, wrap } from './terminal/page.ts'
import { commaSeparated, tabSeparated } from './terminal/table.ts'
import type { Terminal } from './terminal/terminal.ts'

/** The exit code; nothing is thrown but what is a bug of ours. */
export async function runProgram(
  words: readonly string[],
  commands: readonly Command[],
  terminal: Terminal,
): Promise<number> {
  let exitCode: number = EXIT_CODES.done
  const parser = createParser(commands, terminal, async (command, args, options) => {
    const answer = await command.run({ words, args, options, terminal })
    giveAnswer(answer, options, terminal)
    exitCode = answer.exitCode ?? EXIT_CODES.done
  })
  try {
    await parser.parseAsync(words, { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof Failure) return giveFailure(error, words, terminal)
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return EXIT_CODES.done
    // A noun without a verb has been answered with its verbs.
    return error.code === 'commander.help' ? EXIT_CODES.usage : giveFailure(unreadable(error), words, terminal)
  }
}

function giveAnswer(answer: Answer, options: GivenOptions, { write, tell, out }: Terminal): void {
  const { data, table, csv = table, show, verdict, next = [] } = answer
  if (options['json'] === true) return write(`${JSON.stringify(data, undefined, 2)}\n`)
  const rows =
    options['csv'] === true ? csv && commaSeparated(csv) : out.isTerminal ? undefined : table && tabSeparated(table)
  if (rows !== undefined) {
    write(`${rows}\n`)
    if (verdict !== undefined) tell(`${verdict}\n`)
  } else {
    const page = createPage({
      columns: out.columns,
      hasColors: out.hasColors && options['color'] !== false,
      isAscii: out.isAscii || options['ascii'] === true,
    })
    write([show(page), ...(verdict === undefined ? [] : ['', wrap(verdict, page.columns)]), ''].join('\n'))
  }
  for (const [index, line] of next.entries()) tell(`${index === 0 ? '\ntry  ' : '     '}${line}\n`)
}

function giveFailure(failure: Failure, words: readonly string[], { tell }: Terminal): number {
  tell(words.includes('--json') ? `${JSON.stringify(failureDocument(failure))}\n` : describeFailure(failure))
  return failure.parts.exitCode
}
