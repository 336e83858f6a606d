/**
 * What is kept free of the disk, and for whom. A full disk stops everybody, those too who would have to put an end to it: so it is
 * full for one after the other, and first for whoever can best come back later.
 */

/** What a disk has, and what of it may still be written. */
export interface Space {
  readonly allBytes: number
  readonly freeBytes: number
}

/** A twentieth of the disk, and of a large one as much as tasks need for hours. */
const MOST_RESERVED_BYTES = 268_435_456
const RESERVED_PART = 1 / 20

/** What is written for. */
export type Purpose = 'bodies' | 'tasks' | 'answers' | 'orders' | 'attempts' | 'revocations'

/**
 * What part of the reserve each leaves, and to whom. The ends of attempts that are under way and what operators
 * order are in no line: they may have all of it.
 */
const RESERVE: { readonly [purpose in Purpose]: { readonly leaves: number; readonly to: string } } = {
  bodies: { leaves: 1, to: 'tasks' },
  tasks: { leaves: 1 / 2, to: 'tasks that were taken in already' },
  // As many as a tenant's own target and its own patience make of them; the attempt counts without what was answered.
  answers: { leaves: 3 / 8, to: 'attempts' },
  // Of tenants, and of replays of many: each leaves a line, and there is no end to them.
  orders: { leaves: 3 / 8, to: 'attempts, and for whoever runs the service' },
  // Those that begin, and what else becomes of tasks by itself.
  attempts: { leaves: 1 / 8, to: 'whoever runs the service' },
  // Of a tenant's own keys and secrets, which whoever runs the service can revoke, too.
  revocations: { leaves: 1 / 8, to: 'whoever runs the service' },
}

/** What may still be written for it. */
export function leftFor(purpose: Purpose, { allBytes, freeBytes }: Space): number {
  return freeBytes - reservedBytes(allBytes) * RESERVE[purpose].leaves
}

export function reservedBytes(allBytes: number): number {
  return Math.min(allBytes * RESERVED_PART, MOST_RESERVED_BYTES)
}

/** The gravest first; revocations lack room when attempts do. */
const PURPOSES = ['attempts', 'orders', 'answers', 'tasks', 'bodies'] as const satisfies readonly Purpose[]

/** The gravest that nothing is left for. */
export function lackingOn(space: Space): Purpose | undefined {
  return PURPOSES.find(purpose => leftFor(purpose, space) < 0)
}

/** In words, once nothing is left for it. */
export function sayNoRoom(purpose: Purpose): string {
  return `the disk is nearly full, and has no room for ${purpose}: what is left is kept for ${RESERVE[purpose].to}; make room on it`
}
