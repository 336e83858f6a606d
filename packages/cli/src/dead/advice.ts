import type { Cause } from '@secondwind/client'

type Died = Pick<Cause, 'reason' | 'errorCode' | 'heldBy'>

/** What is usually done about a cause. */
export function adviceFor(cause: Died): string {
  if (cause.reason === 'lost') return 'see in the log why the service stopped while it sent it, before any replay'
  if (isMended(cause)) return 'mend the request, then submit it anew'
  if (cause.heldBy !== undefined) return 'see that nothing holds it any more, probe one, then replay'
  if (cause.reason === 'deadline') return 'replay: time begins anew'
  if (cause.reason === 'body-missing') return 'upload its body again (bodies put), then replay'
  return 'see that the target is back, probe one, then replay'
}

/** The request is at fault: sent again as it is, it would die of the same. One that was `lost` takes the service with it. */
export function isMended({ reason, errorCode = '' }: Died): boolean {
  if (['permanent', 'not-idempotent', 'lost'].includes(reason)) return true
  const isItsTime = reason === 'deadline' || reason === 'body-missing'
  return !isItsTime && errorCode.startsWith('http-4') && errorCode !== 'http-429'
}

/** `deadline, held by breaker-open`. */
export function sayWhy({ reason, heldBy }: Pick<Cause, 'reason' | 'heldBy'>): string {
  return heldBy === undefined ? reason : `${reason}, held by ${heldBy}`
}
