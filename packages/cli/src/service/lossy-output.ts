import type { Terminal } from '../terminal/terminal.ts'

export interface LossyOutput {
  readonly write: (line: string) => void
  /** How many could not be written so far. */
  readonly lostLines: () => number
}

/** stdout, line by line. A service is worth more than its log: where a line cannot be written it is lost, and the work goes on. */
export function lossyOutput({ writeOrLose, tell }: Pick<Terminal, 'writeOrLose' | 'tell'>): LossyOutput {
  let lost = 0
  let lostBefore = 0
  let isLosing = false
  const heard = (error?: Error | null): void => {
    if (error) lost++
    if (Boolean(error) === isLosing) return
    isLosing = !isLosing
    if (error) return tell(sayLost(error))
    tell(`the log goes on; ${lost - lostBefore} of its lines were lost\n`)
    lostBefore = lost
  }
  return {
    // A disk that filled up in the middle of a line has kept its beginning: the next one must not stand behind it.
    write: line => writeOrLose(isLosing ? `\n${line}` : line, heard),
    lostLines: () => lost,
  }
}

function sayLost({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'EPIPE') return 'warning log-lost  nobody reads stdout any more; the service goes on without its log\n'
  return `warning log-lost  stdout cannot be written (${message}); the service goes on, and logs again as soon as it can\n`
}
