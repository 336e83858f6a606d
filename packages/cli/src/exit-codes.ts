/** What a script learns from a command without reading a word; docs/cli.md explains each. */
export const EXIT_CODES = {
  /** An empty list is done, too. */
  done: 0,
  failed: 1,
  /** Wrong usage, a document with problems, or a question that could not be asked: nothing was done. */
  usage: 2,
  notFound: 3,
  /** No key, a wrong one, or one that may not do this. */
  notAllowed: 4,
  /** What was asked for does not go with the state that something is in now. */
  conflict: 5,
  /** The command ran, and the answer is no. */
  no: 6,
  /** The service does not answer, or asks to come back later. */
  unavailable: 7,
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES]
