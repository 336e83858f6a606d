import type { Random } from '@secondwind/resilience'

export interface RequestIds {
  /** The caller's own, so that its log and ours can be laid side by side; a new one where it gave none. */
  of(header: string | string[] | undefined): string
  next(): string
}

const REQUEST_ID = /^[\w.:-]{1,100}$/

/** Ids that no other process has made, nor this one twice. */
export function createRequestIds(random: Random): RequestIds {
  const prefix = Math.floor(random() * 36 ** 8)
    .toString(36)
    .padStart(8, '0')
  let count = 0
  const next = (): string => `${prefix}-${(++count).toString(36)}`
  return {
    of: header => (typeof header === 'string' && REQUEST_ID.test(header) ? header : next()),
    next,
  }
}
