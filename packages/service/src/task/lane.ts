import type { Queue, QueueKind, Rank } from './task.ts'
import { isHostName, withoutLastDot } from '../host-name.ts'
import type { Random } from '@secondwind/resilience'

/** A lane is tenant × destination; credit, budget, rate and limits are each lane's own. */
export interface Lane {
  readonly tenant: string
  readonly destination: string
}

/** A lane's name in stores, heaps and maps. Neither part can hold a space: a tenant is a word, a destination an origin. */
export function laneKey({ tenant, destination }: Lane): string {
  return `${tenant} ${destination}`
}

export function laneOf(key: string): Lane {
  const space = key.indexOf(' ')
  return { tenant: key.slice(0, space), destination: key.slice(space + 1) }
}

/** What stands for a tenant in what is nobody's own: keys and orders of whoever runs the service. No tenant has this name. */
export const EVERY_TENANT = '*'

/** The name under which an order for a destination is kept that holds for every tenant. */
export function laneOfAll(lane: string): string {
  return laneKey({ tenant: EVERY_TENANT, destination: laneOf(lane).destination })
}

/** A queue's name within its lane. The policy's name comes last, for it alone may hold anything. */
export function queueKey({ policyId, kind, rank }: Queue): string {
  return `${rank} ${kind} ${policyId}`
}

export function queueOf(key: string): Queue {
  const [rank, kind] = key.split(' ', 2) as [Rank, QueueKind]
  return { rank, kind, policyId: key.slice(rank.length + kind.length + 2) }
}

export const PARTITIONS = 256

/** The partition that a lane belongs to: FNV-1a, the same on every machine. */
export function partitionOf(key: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  return (hash >>> 0) % PARTITIONS
}

/** Whether a caller asked for the next attempt; the one after it is like any other. */
export function isByHand(rank: Rank): boolean {
  return rank === 'urgent'
}

/** Ten minutes: replays yield to live traffic, and do not starve. */
const LOW_RANK_DELAY_MS = 600_000

/** When a task counts as due in the comparison of a lane's queues: `urgent` before all, `low` later. */
export function standingAt(rank: Rank, dueAt: number): number {
  switch (rank) {
    case 'urgent':
      return -Infinity
    case 'normal':
      return dueAt
    case 'low':
      return dueAt + LOW_RANK_DELAY_MS
  }
}

/**
 * The name of the destination that an address leads to: its origin, and one for every spelling of it. `api.example.` is
 * `api.example`: limits, a pause and a breaker would else be passed by a dot.
 */
export function destinationOf({ origin, hostname, port, protocol }: URL): string {
  if (!hostname.endsWith('.')) return origin
  return `${protocol}//${withoutLastDot(hostname)}${port && `:${port}`}`
}

/** Longer than any: 253 characters of a host, and what stands around it. */
const LONGEST_ORIGIN = 300

/** What somebody calls a destination, if it is an origin. */
export function destinationFrom(text: string): string | undefined {
  if (text.length > LONGEST_ORIGIN || !/^https?:\/\//i.test(text)) return undefined
  const url = URL.parse(text)
  // What has more than an origin was meant for something else.
  return url !== null && url.href === `${url.origin}/` && isHostName(url.hostname) ? destinationOf(url) : undefined
}

/** So many random bytes go into a task's id. */
export const TASK_ID_BYTES = 9

const DASH = 0x2d
const DIGITS: readonly number[] = Array.from('0123456789abcdef', digit => digit.charCodeAt(0))

/** The codes of an id, filled anew for each: put together of pieces of text it would cost three times as much. */
const codes: number[] = Array.from({ length: 36 }, () => DASH)

/**
 * A UUIDv7 (RFC 9562 §5.7) whose last byte is the lane's partition: whoever has the id knows where to ask, and ids made
 * one after another lie side by side in an index.
 */
export function taskIdOf(now: number, partition: number, random: Uint8Array): string {
  const time = Math.max(0, Math.floor(now))
  writeWord(0, Math.floor(time / 2 ** 32))
  writeWord(4, Math.floor(time / 2 ** 16))
  writeWord(9, time)
  writeByte(14, 0x70 | (random[0]! & 0x0f))
  writeByte(16, random[1]!)
  writeByte(19, 0x80 | (random[2]! & 0x3f))
  writeByte(21, random[3]!)
  for (let at = 4; at < TASK_ID_BYTES; at++) writeByte(16 + 2 * at, random[at]!)
  writeByte(34, partition)
  return String.fromCharCode(...codes)
}

/** The last sixteen bits. */
function writeWord(at: number, word: number): void {
  writeByte(at, (word >>> 8) & 0xff)
  writeByte(at + 2, word & 0xff)
}

function writeByte(at: number, byte: number): void {
  codes[at] = DIGITS[byte >> 4]!
  codes[at + 1] = DIGITS[byte & 0x0f]!
}

const TASK_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

export function isTaskId(text: string): boolean {
  return TASK_ID.test(text)
}

export function partitionOfTask(taskId: string): number {
  return Number.parseInt(taskId.slice(-2), 16)
}

/** Filled anew for every id, and read before anybody else can be here. */
const randomBytes = new Uint8Array(TASK_ID_BYTES)

export function newTaskId(lane: Lane, now: number, random: Random): string {
  for (let at = 0; at < TASK_ID_BYTES; at++) randomBytes[at] = Math.floor(random() * 256)
  return taskIdOf(now, partitionOf(laneKey(lane)), randomBytes)
}
