import { readFileSync } from 'node:fs'

/** A service with more callers at once needs a proxy in front, which keeps their connections. */
const MOST_CONNECTIONS = 10_000
const FEWEST_CONNECTIONS = 10

/** Where the system does not say how many descriptors there are. */
const USUAL_CONNECTIONS = 1_000

/** For a request under way: its connection, and its name or its body. */
const PER_REQUEST = 2

/** For the store, the log, and files that are being uploaded or read. */
const OWN_DESCRIPTORS = 100

/**
 * How many connections callers may hold, that there are descriptors left for what the service does itself: at most half of
 * them, for connections to targets stay open for a while, too.
 */
export function connectionsWithin(descriptors: number | undefined, concurrency: number): number {
  if (descriptors === undefined) return USUAL_CONNECTIONS
  const left = Math.min(descriptors / 2, descriptors - PER_REQUEST * concurrency - OWN_DESCRIPTORS)
  return Math.max(FEWEST_CONNECTIONS, Math.min(MOST_CONNECTIONS, Math.floor(left)))
}

/** What may be under way on the connections of callers. */
export interface CallerSlots {
  readonly requests: number
  readonly listeners: number
}

/**
 * Requests on half of the connections at most, listeners on a quarter. The others serve no caller, so they can be closed for
 * an operator, whatever tenants do.
 */
export function slotsWithin(connections: number, { requests, listeners }: CallerSlots): CallerSlots {
  return {
    requests: Math.min(requests, Math.floor(connections / 2)),
    listeners: Math.min(listeners, Math.floor(connections / 4)),
  }
}

export interface SocketNeeds {
  readonly concurrency: number
  /** That callers may hold. */
  readonly connections: number
}

/**
 * How many sockets there may be to targets: for each request under way, and as many again that are idle and can be used once
 * more, where callers, names, bodies and the service itself leave so many descriptors. One is needed in any case.
 */
export function targetSocketsWithin(
  descriptors: number | undefined,
  { concurrency, connections }: SocketNeeds,
): number {
  const wanted = 2 * concurrency
  if (descriptors === undefined) return wanted
  const left = descriptors - connections - (PER_REQUEST - 1) * concurrency - OWN_DESCRIPTORS
  return Math.max(1, Math.min(wanted, left))
}

/** How many files and sockets this process may have open; undefined where the system does not say. */
export function mostDescriptors(limitsFile: string = '/proc/self/limits'): number | undefined {
  try {
    const found = /^Max open files +(\d+)/m.exec(readFileSync(limitsFile, 'utf8'))?.[1]
    return found === undefined ? undefined : Number(found)
  } catch {
    return undefined
  }
}
