import { randomBytes } from 'node:crypto'

export interface RequestIds {
  /** The caller's own, so that its log and ours can be laid side by side; a new one where it gave none. */
  of(header: string | string[] | undefined): string
  next(): string
}

const REQUEST_ID = /^[\w.:-]{1,100}$/
const DIGITS = 16
/** Drawn for so many ids at once: each alone would cost more than all else that is done for it. */
const POOL_IDS = 256

/** Ids that nobody makes twice, and that say nothing of other requests: whoever has no key is shown one, too. */
export function createRequestIds(): RequestIds {
  let pool = ''
  let at = 0
  const next = (): string => {
    if (at === pool.length) {
      pool = randomBytes((POOL_IDS * DIGITS) / 2).toString('hex')
      at = 0
    }
    return pool.slice(at, (at += DIGITS))
  }
  return {
    of: header => (typeof header === 'string' && REQUEST_ID.test(header) ? header : next()),
    next,
  }
}
