import type { Hold } from '@secondwind/client'
import { ENDS } from '../destinations/standing-orders.ts'
import type { RemoteCall } from '../remote/remote-command.ts'
import { whoseFlag } from '../remote/whose.ts'

/** The line that opens a gate which somebody has shut; undefined for one that opens by itself. */
export function openGate(
  { reason, until, controlId }: Hold,
  destination: string,
  typed: RemoteCall['typed'],
): string | undefined {
  if (reason === 'kill-switch')
    return controlId === undefined ? typed('kill', 'status') : typed('kill', 'off', controlId)
  if (reason === 'paused') return typed(...ENDS.paused(destination), '--ramp', '5min', '--stop-on-failure-rate', '20%')
  // One that opened by itself knows when it probes.
  if (reason === 'breaker-open' && until === undefined) return typed(...ENDS.forced(destination))
  return undefined
}

/** As whoever shut it: what a tenant has shut for itself is opened for that tenant. */
export function typedAsOwner(
  { isByOperator }: Hold,
  lane: { readonly tenant?: string | undefined },
  { typed, tenant }: Pick<RemoteCall, 'typed' | 'tenant'>,
): RemoteCall['typed'] {
  const whose = isByOperator === true ? [] : whoseFlag(lane, tenant)
  return (...words) => typed(...words, ...whose)
}
