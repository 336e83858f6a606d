import type { BreakerChanged, DispatchEvents, OperatorEvents, TaskOperated } from '@secondwind/service'
import { createColors } from 'picocolors'
import { sayCount } from '../output/say-count.ts'
import { ofTenant } from '../remote/whose.ts'
import type { Terminal } from '../terminal/terminal.ts'

/**
 * Shows a developer what the service does: a line for each attempt, for each order about a task, and for a destination
 * that stops answering or answers again. The first retry is worth watching.
 */
export function narrate({ write, out }: Pick<Terminal, 'write' | 'out'>): DispatchEvents & OperatorEvents {
  const colors = createColors(out.hasColors)
  const say = (line: string): void => write(`${line}\n`)
  return {
    attemptEnded({ taskId, attemptNumber, outcome, responseStatus, errorCode, durationMs }) {
      const what = responseStatus ?? errorCode ?? outcome
      const mark = outcome === 'success' ? colors.green('ok    ') : colors.yellow('failed')
      say(`${mark}  ${taskId}  attempt ${attemptNumber}  ${what}  ${Math.round(durationMs)} ms`)
    },
    taskChanged: () => undefined,
    taskEnded({ taskId, status, reason, attemptNumber, ageMs }) {
      const attempts = `${sayCount(attemptNumber, 'attempt')} in ${sayAge(ageMs)}`
      const paint = status === 'SUCCEEDED' ? colors.green : colors.red
      say(`${paint('end   ')}  ${taskId}  ${status}${reason === undefined ? '' : ` (${reason})`}  ${attempts}`)
    },
    taskOperated: ({ taskId, verb, status }) => say(`${colors.cyan(MARKS[verb])}  ${taskId}  ${sayDone(verb, status)}`),
    held: () => undefined,
    breakerChanged(event) {
      const paint = event.phase === 'open' ? colors.red : colors.green
      say(`${paint(event.phase.padEnd(6))}  ${event.destination}${ofTenant(event)}  ${sayBreaker(event)}`)
    },
    orphan: ({ taskId }) => say(`${colors.yellow('late  ')}  ${taskId}  its answer came after its lease had ended`),
    warning: (code, text) => say(`${colors.yellow('warning')} ${code}  ${text}`),
  }
}

const MARKS: { readonly [verb in TaskOperated['verb']]: string } = {
  cancel: 'cancel',
  'attempt-now': 'now   ',
  replay: 'replay',
}

function sayDone(verb: TaskOperated['verb'], status: TaskOperated['status']): string {
  switch (verb) {
    case 'cancel':
      return status === 'IN_FLIGHT' ? 'its request is cut off' : status
    case 'attempt-now':
      return 'its next attempt is due at once'
    case 'replay':
      return 'attempts from 0, time from now'
  }
}

function sayBreaker(event: BreakerChanged): string {
  if (event.phase === 'closed') return 'its breaker has closed: it answers again'
  const last = event.errorCode === undefined ? '' : ` (${event.errorCode})`
  return `its breaker has opened: it has stopped answering${last}, and one attempt at a time finds out when it is back`
}

function sayAge(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
}

/** A line of the log as people read it; what cannot be read stays as it is. */
export function sayLogLine(line: string): string {
  try {
    const { level, msg, code, method, route, detail, err } = JSON.parse(line) as LogLine
    const where = method === undefined ? [] : [`${method} ${route}`]
    const why = [detail ?? err?.message ?? []].flat()
    return `${level >= ERROR ? 'error' : 'warning'} ${[code ?? [], msg, ...where].flat().join('  ')}${why.map(text => `: ${text}`).join('')}\n`
  } catch {
    return line
  }
}

/** As pino numbers them. */
const ERROR = 50

interface LogLine {
  readonly level: number
  readonly msg: string
  readonly code?: string
  readonly method?: string
  readonly route?: string
  readonly detail?: string
  readonly err?: { readonly message: string }
}
