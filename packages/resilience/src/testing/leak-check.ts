import { systemClock } from '../ports/system-clock.ts'
import { countedController, type CountedController } from './counted-signal.ts'
import { TestingError } from './errors.ts'
import { settled } from './settle.ts'

export interface LeakCheckOptions {
  /** Alarms armed meanwhile and left there are leaks: a virtual clock. */
  readonly clock?: { readonly pending: number }
}

/** Watches what a piece of work leaves behind. Real timers are counted for the whole process: one check at a time. */
export interface LeakCheck {
  /** A controller for the work: who listens to its signal is counted. */
  readonly controller: () => AbortController
  /** Ends the check: every leak as a sentence, none when all is clean. */
  readonly finish: () => Promise<readonly string[]>
}

/** Runs the work and throws if it leaves listeners, alarms, timers or unhandled rejections behind. */
export async function expectNoLeaks<T>(
  work: (check: LeakCheck) => T | PromiseLike<T>,
  options: LeakCheckOptions = {},
): Promise<T> {
  const check = leakCheck(options)
  let result: T
  try {
    result = await work(check)
  } catch (error) {
    // What went wrong first is the news; what it left behind may be its consequence.
    await check.finish()
    throw error
  }
  const leaks = await check.finish()
  if (leaks.length > 0) throw new TestingError('leaks', `left behind:\n  ${leaks.join('\n  ')}`)
  return result
}

export function leakCheck({ clock }: LeakCheckOptions = {}): LeakCheck {
  const host = (globalThis as { readonly process?: HostProcess }).process
  const controllers: CountedController[] = []
  const rejections: unknown[] = []
  const alarmsBefore = clock?.pending ?? 0
  const timersBefore = realTimers(host)
  const onRejection = (reason: unknown): void => void rejections.push(reason)
  host?.on?.('unhandledRejection', onRejection)
  let finished: Promise<readonly string[]> | undefined

  const finish = async (): Promise<readonly string[]> => {
    await settled()
    await timersGone(host, timersBefore)
    host?.off?.('unhandledRejection', onRejection)
    return [
      ...controllers.flatMap((counted, index) =>
        sayCount(counted.listeners(), 'abort listener', `signal ${index + 1}`),
      ),
      ...sayCount((clock?.pending ?? 0) - alarmsBefore, 'alarm', 'the clock'),
      ...sayCount(realTimers(host) - timersBefore, 'real timer', 'the event loop'),
      ...rejections.map(reason => `a rejection was left unhandled: ${String(reason)}`),
    ]
  }

  return {
    controller: () => {
      const counted = countedController()
      controllers.push(counted)
      return counted.controller
    },
    finish: () => (finished ??= finish()),
  }
}

/**
 * The system's clock keeps its timer for a millisecond after the last alarm went; a busy machine takes longer. Not
 * for long, though: timers are only counted, so that one from before which ends meanwhile hides one that is left.
 */
const TIMERS_LINGER_MS = 25

async function timersGone(host: HostProcess | undefined, before: number): Promise<void> {
  const until = systemClock.monotonic() + TIMERS_LINGER_MS
  while (realTimers(host) > before && systemClock.monotonic() < until) await settled()
}

function realTimers(host: HostProcess | undefined): number {
  return host?.getActiveResourcesInfo?.().filter(resource => resource === 'Timeout').length ?? 0
}

function sayCount(count: number, what: string, where: string): string[] {
  if (count <= 0) return []
  return [`${count} ${what}${count === 1 ? ' is' : 's are'} left on ${where}`]
}

/** As much of Node's `process` as is needed here; elsewhere there is none, and what it would tell is not checked. */
interface HostProcess {
  getActiveResourcesInfo?(): readonly string[]
  on?(event: 'unhandledRejection', listener: (reason: unknown) => void): void
  off?(event: 'unhandledRejection', listener: (reason: unknown) => void): void
}
