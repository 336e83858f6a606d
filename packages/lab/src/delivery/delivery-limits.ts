import { sayMs, sayNumber, sayShare } from '../plots/format.ts'
import type { DeliveryMeasure, DeliveryReading, DeliverySpread } from './delivery-reading.ts'
import { deliverySpread } from './delivery-reading.ts'

/** Limits for a delivery. A measure without a limit may be anything. */
export interface DeliveryLimits {
  readonly minDeliveredShare?: number
  /** Until 99 in 100 of the tasks are delivered, after the last trouble or the last arrival. */
  readonly maxRecoveryMs?: number
  /** From the arrival of a task until it is delivered, for 99 in 100 of those that are. */
  readonly maxP99Ms?: number
  readonly maxWhileDown?: number
  readonly maxFailedPerTask?: number
}

export interface DeliveryLimitCheck {
  readonly name: string
  readonly limitName: keyof DeliveryLimits
  readonly measure: DeliveryMeasure
  readonly holds: boolean
  /** Over all seeds; absent: a run has none of it. */
  readonly is?: DeliverySpread
  readonly limit: number
  readonly say: string
}

interface Rule {
  readonly measure: DeliveryMeasure
  readonly name: string
  readonly isLeast?: true
  readonly show: (value: number) => string
  readonly whenMissing: string
}

const RULES: { readonly [limit in keyof DeliveryLimits]-?: Rule } = {
  minDeliveredShare: {
    measure: 'deliveredShare',
    name: 'delivered',
    isLeast: true,
    show: sayShare,
    whenMissing: 'no task arrived',
  },
  maxRecoveryMs: {
    measure: 'gone99AfterMs',
    name: 'recovery',
    show: sayMs,
    whenMissing: '99 in 100 tasks were never delivered',
  },
  maxP99Ms: { measure: 'p99LateMs', name: 'p99', show: sayMs, whenMissing: 'no task was delivered' },
  maxWhileDown: {
    measure: 'requestsWhileDown',
    name: 'requests while down',
    show: sayNumber,
    whenMissing: 'the destination is never down',
  },
  maxFailedPerTask: {
    measure: 'failedPerTask',
    name: 'failed attempts a task',
    show: sayNumber,
    whenMissing: 'no task arrived',
  },
}

/** Each limit that was set, held against the mean over all seeds. A measure that a run does not have does not hold. */
export function checkDeliveryLimits(
  readings: readonly DeliveryReading[],
  limits: DeliveryLimits,
): readonly DeliveryLimitCheck[] {
  return (Object.entries(limits) as [keyof DeliveryLimits, number][]).map(([limitName, limit]) => {
    const { measure, name, isLeast, show, whenMissing } = RULES[limitName]
    const is = deliverySpread(readings, measure)
    const holds = is !== undefined && (isLeast ? is.mean >= limit : is.mean <= limit)
    const said = is === undefined ? `missing: ${whenMissing}` : show(is.mean)
    const say = `${said}, asked for ${isLeast ? 'at least' : 'at most'} ${show(limit)}`
    return { name, limitName, measure, holds, ...(is && { is }), limit, say }
  })
}
