import { createInterface } from 'node:readline'
import { buffer } from 'node:stream/consumers'
import type { ReadStream, WriteStream } from 'node:tty'

/** Where a command is run: stdout is data, stderr is conversation. */
export interface Terminal {
  readonly write: (data: string) => void
  /** As they are: for a file or another program, never for a terminal, which would obey them. */
  readonly writeBytes: (bytes: Uint8Array) => void
  /** Writes for a program that goes on where it cannot: `onEnd` hears why not, or nothing. */
  readonly writeOrLose: (data: string, onEnd: (error?: Error | null) => void) => void
  readonly tell: (conversation: string) => void
  readonly out: Screen
  readonly err: Screen
  /** Absent where nobody can answer; empty for an end of input, and an `InterruptedError` for an interrupt. */
  readonly ask?: (question: string) => Promise<string>
  /** All of stdin, as it came. */
  readonly readInput: () => Promise<Buffer>
  /** Calls `tidy` before an interrupt ends the program, until the function that it returns is called. */
  readonly onInterrupt?: (tidy: () => void) => () => void
}

export interface Screen {
  readonly isTerminal: boolean
  readonly columns: number
  readonly rows: number
  readonly hasColors: boolean
  readonly isAscii: boolean
}

/** A plot is legible from 60 columns on, and a line is hard to follow beyond 160. */
const NARROWEST = 60
const WIDEST = 160
const USUAL_COLUMNS = 80
const USUAL_ROWS = 24

/** What cannot be written to stdout is told to `onLost`, unless whoever wrote it bears that. */
export function systemTerminal(onLost: (error: Error) => void): Terminal {
  const { stdin, stdout, stderr } = process
  const canAsk = stdin.isTTY && stderr.isTTY
  const borne = new WeakSet<Error>()
  // A reader that has seen enough, such as `head`, is no error.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (borne.has(error)) return
    if (error.code === 'EPIPE') process.exit()
    onLost(error)
  })
  // Whoever has closed stderr does not want to be talked to; the work goes on, and ends as it would have.
  stderr.on('error', () => undefined)
  return {
    write: data => void stdout.write(data),
    writeBytes: bytes => void stdout.write(bytes),
    writeOrLose: (data, onEnd) =>
      void stdout.write(data, error => {
        // The stream tells whoever wrote before it tells everybody.
        if (error) borne.add(error)
        onEnd(error)
      }),
    tell: conversation => void stderr.write(conversation),
    out: screenOf(stdout),
    err: screenOf(stderr),
    ...(canAsk ? { ask: question => askOn(stdin, stderr, question) } : {}),
    readInput: () => buffer(stdin),
    onInterrupt,
  }
}

/** The signal is sent once more afterwards, so that the shell sees who ended the program. */
function onInterrupt(tidy: () => void): () => void {
  const listener = (): void => {
    tidy()
    process.off('SIGINT', listener)
    process.kill(process.pid, 'SIGINT')
  }
  process.on('SIGINT', listener)
  return () => process.off('SIGINT', listener)
}

function screenOf(stream: WriteStream): Screen {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env
  // Undefined where it is a pipe or a file, whatever the type says.
  const isTerminal = (stream.isTTY as boolean | undefined) ?? false
  const wishes = FORCE_COLOR === undefined ? undefined : FORCE_COLOR !== '0'
  return {
    isTerminal,
    columns: Math.min(WIDEST, Math.max(NARROWEST, isTerminal ? stream.columns : USUAL_COLUMNS)),
    rows: isTerminal && stream.rows > 0 ? stream.rows : USUAL_ROWS,
    hasColors: !NO_COLOR && (wishes ?? (isTerminal && TERM !== 'dumb')),
    isAscii: TERM === 'dumb',
  }
}

/** A question was not answered but interrupted: nothing that it was about has begun. */
export class InterruptedError extends Error {}

function askOn(input: ReadStream, output: WriteStream, question: string): Promise<string> {
  const lines = createInterface({ input, output })
  return new Promise((resolve, reject) => {
    // Keys reach the program one by one while it asks, so that none of them is a signal.
    lines.once('SIGINT', () => {
      reject(new InterruptedError('interrupted'))
      lines.close()
    })
    // Without an answer the cursor still stands behind the question.
    lines.once('close', () => {
      output.write('\n')
      resolve('')
    })
    lines.question(question, answer => {
      lines.removeAllListeners('close').close()
      resolve(answer)
    })
  })
}
