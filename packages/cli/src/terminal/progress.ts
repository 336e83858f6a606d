import { systemClock, type Clock } from '@secondwind/resilience'
import { sayRoughly } from '../output/say-time.ts'
import type { Terminal } from './terminal.ts'

export interface Progress {
  readonly advance: (done: number) => void
  /** A line of its own, which stays. */
  readonly say: (line: string) => void
  readonly end: () => void
}

/** Often enough to be smooth. */
const REDRAW_MS = 100
/** On paper: soon enough that nobody thinks that it hangs, and then often enough. */
const FIRST_LINE_MS = 1_000
const LINE_MS = 30_000
const BAR_WIDTH = 24
/** What is not done yet takes a moment. */
const SHORTEST_LEFT_MS = 1_000

interface Work {
  readonly label: string
  /** Before the bar begins. */
  readonly done?: number
  /** Absent where nobody knows how much there is: no bar. */
  readonly total?: number
  /** How long it will take from now on, where somebody knows better than the time that passed tells. */
  readonly leftMs?: () => number | undefined
  /** What else there is to say of it now. */
  readonly note?: () => string
  readonly clock?: Pick<Clock, 'monotonic' | 'sleep'>
}

/**
 * A bar on a terminal, a line now and then elsewhere; on stderr, so that data stays data. It goes on by the clock, so that
 * one long thing is seen to go on, too.
 */
export function showProgress(
  { tell, err, onInterrupt }: Pick<Terminal, 'tell' | 'err' | 'onInterrupt'>,
  { label, done: before = 0, total, leftMs, note, clock = systemClock }: Work,
): Progress {
  const startedAt = clock.monotonic()
  // A terminal that knows nothing but characters cannot take a line back.
  const redraws = err.isTerminal && !err.isAscii
  let [done, shown] = [before, '']

  const show = (): void => {
    const elapsedMs = clock.monotonic() - startedAt
    const estimateMs = leftMs?.()
    const state = { label, before, done, total, elapsedMs, ...(estimateMs !== undefined && { estimateMs }) }
    const line = [progressLine(state, err.isAscii), note?.() ?? ''].filter(part => part !== '').join('   ')
    // A line that goes on in the next one cannot be taken back.
    if (line !== shown) tell(redraws ? `\r\u001B[K${line.slice(0, err.columns - 1)}` : `${line}\n`)
    shown = line
  }
  const ended = new AbortController()
  const watch = async (): Promise<void> => {
    await clock.sleep(redraws ? REDRAW_MS : FIRST_LINE_MS, ended.signal)
    while (!ended.signal.aborted) {
      show()
      await clock.sleep(redraws ? REDRAW_MS : LINE_MS, ended.signal)
    }
  }
  // The only thing that ends a sleep is the end of the work.
  watch().catch(() => undefined)
  // The prompt that follows must not stand behind half a bar.
  const forget = redraws ? onInterrupt?.(() => tell(shown === '' ? '' : '\n')) : undefined

  return {
    advance: more => void (done += more),
    say: line => {
      tell(`${redraws && shown !== '' ? '\r\u001B[K' : ''}${line}\n`)
      shown = ''
    },
    // What is done needs no bar any more.
    end: () => {
      ended.abort()
      forget?.()
      if (redraws && shown !== '') tell('\r\u001B[K')
    },
  }
}

interface ProgressState {
  readonly label: string
  readonly before: number
  readonly done: number
  readonly total: number | undefined
  readonly elapsedMs: number
  readonly estimateMs?: number
}

function progressLine(state: ProgressState, isAscii: boolean): string {
  const { label, before, done, total, elapsedMs, estimateMs } = state
  const soFar = `${Math.floor(elapsedMs / 1_000)} s so far`
  if (total === undefined) return `${label}   ${soFar}`
  const filled = Math.round((BAR_WIDTH * done) / total)
  const [full, empty] = isAscii ? ['#', '.'] : ['█', '░']
  const leftMs = estimateMs ?? (elapsedMs * (total - done)) / (done - before)
  const eta = done === before ? soFar : `about ${sayRoughly(Math.max(SHORTEST_LEFT_MS, leftMs))} left`
  return `${label}  ${full.repeat(filled)}${empty.repeat(BAR_WIDTH - filled)}  ${done}/${total}   ${eta}`
}
