/** What a script learns from a command without reading a word; docs/cli.md explains each. */
export const EXIT_CODES = {
  /** An empty list is done, too. */
  done: 0,
  failed: 1,
  /** Wrong usage, a document with problems, or a question that could not be asked: nothing was done. */
  usage: 2,
  notFound: 3,
  /** The command ran, and the answer is no. */
  no: 6,
} as const

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES]
