import type { Cause } from '@secondwind/client'

/** What is usually done about a cause. */
export function adviceFor({ reason, errorCode = '' }: Pick<Cause, 'reason' | 'errorCode'>): string {
  if (reason === 'permanent' || reason === 'not-idempotent') return 'mend the request, then submit it anew'
  if (reason === 'deadline') return 'replay: time begins anew'
  if (reason === 'body-missing') return 'upload its body again (bodies put), then replay'
  if (errorCode.startsWith('http-4') && errorCode !== 'http-429') return 'mend the request, then submit it anew'
  return 'see that the target is back, probe one, then replay'
}
