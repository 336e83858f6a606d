/** What is known of a call besides its numbers; several may hold. Without the first two it is a first attempt. */
export const RETRY = 1
export const HEDGE = 2
/** Nobody waits for its answer. */
export const ABANDONED = 4
/** It has begun its second visit: under contention a call reads, and then writes. */
export const WRITING = 8

/** Where a call is. */
export const TRAVELLING = 0
export const QUEUED = 1
export const SERVED = 2
/** Its own work is done, and what it calls downstream is not. */
export const ELSEWHERE = 3
export const RETURNING = 4
/** Its request or its answer never arrives; only its caller's patience ends it. */
export const LOST = 5
