/**
 * A command is data and one function: it reads its input, and returns an answer. What becomes of the answer (a page, a
 * table for other programs, JSON) is decided in one place, for all of them.
 */
import type { ExitCode } from './exit-codes.ts'
import type { OutputFile } from './output/output-file.ts'
import type { Page } from './terminal/page.ts'
import type { Table } from './terminal/table.ts'
import type { Terminal } from './terminal/terminal.ts'

export interface Command {
  /** The words that call it: a noun, then a verb. */
  readonly path: readonly string[]
  readonly summary: string
  readonly arguments?: readonly Argument[]
  readonly options?: readonly Option[]
  /** What it does not know is told by the command itself, with all else that is wrong; else the parser tells it alone. */
  readonly tellsUnknown?: true
  /** Lines that work when pasted. */
  readonly examples: readonly string[]
  /** Only an exit code: it has said what there was to say while it ran. */
  readonly run: (call: Call) => Answer | Promise<Answer | ExitCode>
}

/** `<policy>`: one that is needed; `[policy]`: one that may be missing; `<tier...>`: any number. */
export interface Argument {
  readonly usage: string
  readonly say: string
  /** Names that may stand there, for completion. */
  readonly choices?: readonly string[]
  /** A destination: the host of one that is known will do. */
  readonly isDestination?: true
}

export interface Option {
  /** `--seed <number>`, or `--strict` for a switch. */
  readonly flag: string
  readonly say: string
  /** The values to choose from, for help and completion. */
  readonly choices?: readonly string[]
  readonly isRepeatable?: true
  /** A destination: the host of one that is known will do. */
  readonly isDestination?: true
}

export interface Call {
  /** Everything after the name of the program, as it was typed. */
  readonly words: readonly string[]
  /** In the order of the command's arguments; a list for one that takes any number. */
  readonly args: readonly (string | readonly string[] | undefined)[]
  /** By name, in camel case; `true` for a switch, a list for one that may be repeated. */
  readonly options: GivenOptions
  /** Words that are neither, of a command that tells them itself. */
  readonly unknown: readonly string[]
  readonly terminal: Terminal
}

export type GivenOptions = { readonly [name: string]: GivenOption }

export type GivenOption = string | boolean | readonly string[] | undefined

export interface Answer {
  /** The one document that `--json` prints, with the verdict added to it. */
  readonly data: unknown
  /** What people read. */
  readonly show: (page: Page) => string
  /** What other programs read: the rows when the output is no terminal, and with `--csv`. */
  readonly table?: Table
  /** What it is about, where that is one word, a key for example: alone in its line when the output is no terminal. */
  readonly word?: string
  /** What it is about, where that is bytes: written as they are when the output is no terminal. */
  readonly bytes?: Uint8Array
  /** What `--csv` prints instead, where the answer itself is no table. */
  readonly csv?: Table
  /** What `--ndjson` prints, each in a line of its own. */
  readonly items?: readonly unknown[]
  /** What `--ids` prints: the names of the items, to be handed to another command. */
  readonly ids?: readonly string[]
  /** What it comes to, in a sentence. */
  readonly verdict?: string
  /** What to type next; it is conversation and goes to stderr. */
  readonly next?: readonly string[]
  /** Written when the answer has been given: a full disk must not cost the answer. */
  readonly files?: readonly OutputFile[]
  readonly exitCode?: ExitCode
  /** What it means that it cannot be given: what a server made up may be found out only then. */
  readonly failed?: (error: unknown) => unknown
}
