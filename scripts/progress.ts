/** How far a step is. The tests print it in lines of their own, and `npm test` shows it. */
export interface Progress {
  readonly done: number
  readonly total: number
  /** The files that run, the one that began first before the others. */
  readonly running: readonly string[]
}

/** Set for a step whose output is read by `npm test`; at a terminal the tests show themselves. */
export const ASKS_FOR_PROGRESS = 'TEST_PROGRESS'

const MARK = '@progress '

export function progressLine(progress: Progress): string {
  return MARK + JSON.stringify(progress)
}

/** Parts what a step prints into the newest progress and all else. */
export class ProgressReader {
  newest: Progress | undefined
  #unended = ''

  /** The whole lines so far that are no progress. A line may come in several pieces. */
  take(text: string): string {
    const lines = (this.#unended + text).split('\n')
    this.#unended = lines.pop() ?? ''
    const others = lines.filter(line => !this.#takeLine(line))
    return others.map(line => `${line}\n`).join('')
  }

  /** What is left when nothing more comes. */
  end(): string {
    return this.take(this.#unended === '' ? '' : '\n')
  }

  #takeLine(line: string): boolean {
    if (!line.startsWith(MARK)) return false
    this.newest = JSON.parse(line.slice(MARK.length)) as Progress
    return true
  }
}

/** `12/473 files, running retry/run.test.ts and 3 more`, with as many names as the columns have room for. */
export function sayProgress({ done, total, running }: Progress, columns: number): string {
  const count = `${done}/${total} files`
  let said = count
  for (let named = 1; named <= running.length; named++) {
    const others = running.length - named
    const longer = `${count}, running ${running.slice(0, named).join(', ')}${others > 0 ? ` and ${others} more` : ''}`
    if (named > 1 && longer.length > columns) break
    said = longer
  }
  return said.slice(0, columns)
}

export interface Screen {
  readonly isTerminal: boolean
  readonly columns: number
  readonly write: (text: string) => void
}

const NAME_WIDTH = 14
const TO_LINE_START = '\r\u001b[K'

/** What is seen of one step: a line that is rewritten at a terminal, and lines of their own in a log. */
export class StepLine {
  readonly #name: string
  readonly #screen: Screen
  #isAlone = true

  constructor(name: string, screen: Screen) {
    this.#name = name.padEnd(NAME_WIDTH)
    this.#screen = screen
    screen.write(this.#name)
  }

  show(progress: Progress): void {
    const { isTerminal, columns, write } = this.#screen
    // At the very edge some terminals go on to the next line, which could not be rewritten.
    const said = sayProgress(progress, columns - NAME_WIDTH - 1)
    if (isTerminal) write(`${TO_LINE_START}${this.#name}${said}`)
    else write(`${this.#isAlone ? '\n' : ''}${' '.repeat(NAME_WIDTH)}${said}\n`)
    this.#isAlone = false
  }

  end(result: string): void {
    const { isTerminal, write } = this.#screen
    const again = this.#isAlone ? '' : isTerminal ? TO_LINE_START + this.#name : this.#name
    write(`${again}${result}\n`)
  }
}
