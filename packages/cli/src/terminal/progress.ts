import { systemClock, type Clock } from '@secondwind/resilience'
import type { Terminal } from './terminal.ts'

export interface Progress {
  readonly advance: (done: number) => void
  readonly end: () => void
}

/** Often enough to be smooth; on paper, often enough that nobody thinks it hangs. */
const REDRAW_MS = 100
const LINE_MS = 30_000
const BAR_WIDTH = 24

/** A bar on a terminal, a line now and then elsewhere; on stderr, so that data stays data. */
export function showProgress(
  { tell, err }: Pick<Terminal, 'tell' | 'err'>,
  { label, total, clock = systemClock }: { label: string; total: number; clock?: Pick<Clock, 'monotonic'> },
): Progress {
  const startedAt = clock.monotonic()
  const everyMs = err.isTerminal ? REDRAW_MS : LINE_MS
  let [done, shownAt, isShown] = [0, startedAt, false]

  const show = (now: number): void => {
    const line = progressLine({ label, done, total, elapsedMs: now - startedAt, isAscii: err.isAscii })
    tell(err.isTerminal ? `\r\u001B[K${line}` : `${line}\n`)
    shownAt = now
    isShown = true
  }

  return {
    advance: more => {
      done += more
      const now = clock.monotonic()
      if (now - shownAt >= everyMs) show(now)
    },
    // What is done needs no bar any more.
    end: () => {
      if (isShown && err.isTerminal) tell('\r\u001B[K')
    },
  }
}

interface ProgressState {
  readonly label: string
  readonly done: number
  readonly total: number
  readonly elapsedMs: number
  readonly isAscii: boolean
}

function progressLine({ label, done, total, elapsedMs, isAscii }: ProgressState): string {
  const filled = Math.round((BAR_WIDTH * done) / total)
  const [full, empty] = isAscii ? ['#', '.'] : ['█', '░']
  const leftSeconds = Math.ceil((elapsedMs * (total - done)) / done / 1_000)
  const eta = done === 0 || done === total ? '' : `   about ${leftSeconds} s left`
  return `${label}  ${full.repeat(filled)}${empty.repeat(BAR_WIDTH - filled)}  ${done}/${total}${eta}`
}
