import { SCENARIO } from './scenario.ts'
import type { StoryClock } from './story-clock.ts'

/** What is written over itself while one waits. */
export interface Terminal {
  readonly isTTY?: boolean
  write(text: string): unknown
}

const EVERY_MS = 200

/** Shows the time of the story until the returned function is called; where there is no terminal, nothing. */
export function showProgress(terminal: Terminal, clock: StoryClock): () => void {
  if (terminal.isTTY !== true) return () => {}
  const timer = setInterval(() => terminal.write(`\r\u001b[K${progressAt(clock.now())}`), EVERY_MS)
  return () => {
    clearInterval(timer)
    terminal.write('\r\u001b[K')
  }
}

export function progressAt(elapsedMs: number): string {
  const { lengthMs, downFromMs, downUntilMs } = SCENARIO
  const shownMs = Math.min(elapsedMs, lengthMs)
  const isDown = shownMs >= downFromMs && shownMs < downUntilMs
  const state = isDown
    ? 'the server is down'
    : shownMs < downFromMs
      ? 'all is well'
      : 'the server is back, if it is let'
  return `  ${(shownMs / 1_000).toFixed(1).padStart(4)} s of ${lengthMs / 1_000}   ${state}`
}
