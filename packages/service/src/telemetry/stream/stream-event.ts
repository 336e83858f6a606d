import { EVERY_TENANT } from '../../task/lane.ts'
import type { TaskChange } from '../../task/task-change.ts'

/** What is told to whoever listens. `counters` and `gap` are made for each listener, and not kept. */
export type EventType = (typeof EVENT_TYPES)[number]

export const EVENT_TYPES = ['task', 'counters', 'destination', 'control', 'replay', 'gap'] as const

/** Something that happened to a tenant. */
export interface StreamEvent {
  readonly type: Exclude<EventType, 'counters' | 'gap'>
  readonly at: number
  /** What it is about, if it is about one. */
  readonly destination?: string
  readonly taskId?: string
  /** What listeners are told besides `at`. */
  readonly data: object
}

export function taskEvent(change: TaskChange, at: number): StreamEvent {
  const { taskId, destination } = change
  return { type: 'task', at, taskId, destination, data: change }
}

/** What a listener wants to hear. Absent: everything. */
export interface EventFilter {
  readonly destination?: string | undefined
  readonly taskId?: string | undefined
  readonly types?: readonly EventType[] | undefined
}

/** What is about no destination in particular may be about each of them; what is about no task is about none. */
export function passes({ destination, taskId, types }: EventFilter, event: StreamEvent): boolean {
  if (taskId !== undefined && event.taskId !== taskId) return false
  if (destination !== undefined && event.destination !== undefined && event.destination !== destination) return false
  return types === undefined || types.includes(event.type)
}

/** Why a listener has not heard all. */
export interface Gap {
  /** It was away for too long; another process had begun; more happened than anybody could read. */
  readonly because: 'too-old' | 'restart' | 'too-many'
  /** So many at most; absent when nobody knows. */
  readonly missed?: number
}

/** Server-sent events, as the HTML standard writes them. JSON has no line feeds. */
export function frameOf(type: EventType, id: string, data: object): string {
  return `event: ${type}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`
}

/** Whoever hears of one tenant alone knows which. */
export function dataOf({ at, data }: StreamEvent, hearsOf: string): object {
  if (hearsOf === EVERY_TENANT) return { at, ...data }
  const { tenant: _, ...told } = data as { readonly tenant?: string }
  return { at, ...told }
}

/** What an event takes in memory, nearly: its strings, twice, for the text that is sent has them too, and all else. */
export function sizeOf({ destination = '', data, type }: StreamEvent): number {
  return OTHER_BYTES + 2 * (type === 'task' ? destination.length : JSON.stringify(data).length)
}

const OTHER_BYTES = 600
