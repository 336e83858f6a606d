/** Each layer as one would write it for a single place: no budgets, no reasons, no guards, nothing that is shared. */
import type { Action, Calls } from './contender.ts'

/** A second call after a second; the first answer counts. */
async function hedged(action: Action): Promise<unknown> {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const second = new Promise((resolve, reject) => {
    timer = setTimeout(() => void action().then(resolve, reject), 1_000)
  })
  try {
    return await Promise.race([action(), second])
  } finally {
    clearTimeout(timer)
    controller.abort()
  }
}

/** A gradient of the latest latency against a moving average. */
const limit = { now: 20, inFlight: 0, longMs: 0 }
async function limited(action: Action): Promise<unknown> {
  if (limit.inFlight >= limit.now) throw new Error('limited')
  limit.inFlight++
  const startedAt = performance.now()
  try {
    return await action()
  } finally {
    const ms = performance.now() - startedAt
    limit.longMs += (ms - limit.longMs) / 600
    const gradient = Math.max(0.5, Math.min(1, (1.5 * limit.longMs) / ms || 1))
    limit.now = Math.max(1, Math.min(200, limit.now * 0.8 + 0.2 * (limit.now * gradient + 4)))
    limit.inFlight--
  }
}

/** Requests and accepts over two minutes, halved as they grow old. */
const counts = { requests: 0, accepts: 0, endsAt: 0 }
async function throttled(action: Action): Promise<unknown> {
  const now = performance.now()
  if (now > counts.endsAt) {
    counts.requests /= 2
    counts.accepts /= 2
    counts.endsAt = now + 120_000
  }
  const chance = Math.max(0, (counts.requests - 2 * counts.accepts) / (counts.requests + 1))
  counts.requests++
  if (Math.random() < Math.min(0.9, chance)) throw new Error('throttled')
  const value = await action()
  counts.accepts++
  return value
}

export const calls: Calls = { hedged, limited, throttled }
