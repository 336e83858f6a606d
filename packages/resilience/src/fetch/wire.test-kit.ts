import { createServer, type RequestListener } from 'node:http'
import { onTestFinished } from 'vitest'
import { NOT_ARMED, type Alarm, type Clock } from '../ports/clock.ts'
import { sleepOn } from '../ports/sleep.ts'
import { nextTurn } from '../ports/turn.ts'
import type { RetryPolicyInput } from '../retry/policy.ts'
import { scriptedServer, type RecordedRequest, type ScriptEntry } from '../testing/index.ts'

/** Waits of 100, 200 and 400 ms, none of which is really waited for on a `skippingClock`. */
export const STEADY: RetryPolicyInput = { maxAttempts: 4, initialDelayMs: 100, jitterType: 'NONE' }

export interface SkippingClock extends Clock {
  /** The waits that were skipped, in ms. */
  readonly waits: readonly number[]
}

/**
 * For tests with real sockets, which no virtual clock can wait for: time stands still while the network works, and a
 * wait is skipped in the next turn after `ready`. What is armed for nine seconds and more is a time-out, and never rings.
 */
export function skippingClock(ready: () => Promise<unknown> = () => Promise.resolve()): SkippingClock {
  let elapsedMs = 0
  const waits: number[] = []
  const waiting = new Set<Alarm>()
  const skip = async (alarm: Alarm): Promise<void> => {
    await ready()
    await new Promise<void>(nextTurn)
    if (!waiting.has(alarm)) return
    clock.disarm(alarm)
    elapsedMs = Math.max(elapsedMs, alarm.dueAt)
    alarm.ring()
  }
  const clock: SkippingClock = {
    waits,
    now: () => Date.UTC(2026, 0, 1) + elapsedMs,
    monotonic: () => elapsedMs,
    sleep: (ms, signal) => sleepOn(clock, ms, signal),
    arm: alarm => {
      alarm.slot = 0
      if (alarm.dueAt - elapsedMs >= 9_000) return
      waits.push(alarm.dueAt - elapsedMs)
      waiting.add(alarm)
      void skip(alarm)
    },
    disarm: alarm => {
      alarm.slot = NOT_ARMED
      waiting.delete(alarm)
    },
  }
  return clock
}

/** A scripted server behind a real socket, closed when the test is over. */
export async function listening(
  ...script: readonly ScriptEntry[]
): Promise<{ url: string; requests: readonly RecordedRequest[] }> {
  const server = scriptedServer(script)
  const { url, close } = await server.listen()
  onTestFinished(close)
  return { url, requests: server.requests }
}

/** Any server behind a real socket, with the number of connections it ever had. */
export async function serve(listener: RequestListener): Promise<{ url: string; connections: () => number }> {
  let connections = 0
  const server = createServer(listener).on('connection', () => connections++)
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(
    () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  const address = server.address() as { port: number }
  return { url: `http://127.0.0.1:${address.port}`, connections: () => connections }
}

/** A port on which nobody listens. */
export async function deadUrl(): Promise<string> {
  const server = createServer()
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

/** An event to wait for. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {}
  const opened = new Promise<void>(resolve => (open = resolve))
  return { opened, open }
}

/** What a promise was rejected with. */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}
