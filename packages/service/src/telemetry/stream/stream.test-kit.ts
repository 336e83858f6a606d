import { virtualClock, type VirtualClock } from '@secondwind/resilience/testing'
import type { TaskChange } from '../../task/task-change.ts'
import { EventStream, type Listen, type StreamLimits } from './event-stream.ts'
import type { Outlet } from './listener.ts'

/** A connection that writes down what it is given. */
export class Ear implements Outlet {
  isFull = false
  isEnded = false
  isCut = false
  readonly chunks: Uint8Array[] = []

  write(bytes: Uint8Array): void {
    this.chunks.push(bytes)
  }

  end(): void {
    this.isEnded = true
  }

  cut(): void {
    this.isCut = true
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString()
  }

  get heard(): Heard[] {
    return heardIn(this.text)
  }

  get lastId(): string {
    return this.text.match(/(?<=^id: ).*$/gm)!.at(-1)!
  }

  /** What it was told of tasks, in order. */
  get taskIds(): unknown[] {
    return this.heard.flatMap(({ type, data }) => (type === 'task' ? data['taskId'] : []))
  }
}

export interface Heard {
  readonly type: string
  readonly id: string
  readonly data: { readonly [field: string]: unknown }
}

/** Every whole event of a text. */
export function heardIn(text: string): Heard[] {
  return Array.from(text.matchAll(/^event: (.*)\nid: (.*)\ndata: (.*)\n\n/gm), ([, type, id, data]) => ({
    type: type!,
    id: id!,
    data: JSON.parse(data!) as Heard['data'],
  }))
}

/** What is told besides the instant. */
export function toldIn({ data }: Heard): object {
  const { at: _, ...told } = data
  return told
}

export interface Streaming {
  readonly stream: EventStream
  readonly clock: VirtualClock
  readonly listen: (parts?: Partial<Listen>) => { readonly ear: Ear; readonly leave: (() => void) | undefined }
  /** A change of each of these tasks. */
  readonly change: (...taskIds: string[]) => void
}

export function streaming(limits: Partial<StreamLimits> = {}, instance = '5f0c7a1b'): Streaming {
  const clock = virtualClock()
  const stream = new EventStream({ clock, now: () => clock.now(), instance, limits })
  return {
    stream,
    clock,
    listen(parts = {}) {
      const ear = new Ear()
      const leave = stream.listen({
        tenant: 'default',
        isOperator: false,
        filter: {},
        outlet: ear,
        isStillAllowed: async () => true,
        ...parts,
      })
      return { ear, leave }
    },
    change: (...taskIds) => taskIds.forEach(taskId => tellChange(stream, { taskId })),
  }
}

export function tellChange(stream: EventStream, parts: Partial<TaskChange> = {}): void {
  const change = aChange(parts)
  stream.taskChanged(change.tenant, () => change)
}

function aChange(parts: Partial<TaskChange> = {}): TaskChange {
  return {
    tenant: 'default',
    taskId: 'a',
    destination: 'https://api.example',
    status: 'SUCCEEDED',
    attemptNumber: 1,
    ...parts,
  }
}

export function numbered(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, place) => `t${from + place}`)
}
