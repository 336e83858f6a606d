/**
 * Queues in their steady state. λ arrivals a second come at random (Poisson) and are served one after another, each
 * for S on average, by c servers; ρ = λS / c is how busy they are. From ρ = 1 on the queue grows without end: there is
 * no steady state, and the answer is undefined.
 *
 * Sources: L. Kleinrock, Queueing Systems, vol. 1 (1975); for retrials G. I. Falin and J. G. C. Templeton,
 * Retrial Queues (1997).
 */

export interface Load {
  readonly arrivalsPerSecond: number
  /** The mean time that one arrival keeps a server busy. */
  readonly serviceMs: number
}

export interface SteadyQueue {
  /** The share of time that a server is busy. */
  readonly utilisation: number
  /** The mean time before service begins. */
  readonly waitMs: number
  /** The mean time from arrival to answer. */
  readonly timeMs: number
  /** How many wait on average, and how many are there, in service or not. */
  readonly waiting: number
  readonly present: number
}

/** M/M/1: one server, exponential service. Wq = ρS / (1 − ρ). */
export function mm1(load: Load): SteadyQueue | undefined {
  return mg1({ ...load, variation: 1 })
}

/** M/D/1: one server, every service equally long. Wq = ρS / (2 (1 − ρ)), half of M/M/1's. */
export function md1(load: Load): SteadyQueue | undefined {
  return mg1({ ...load, variation: 0 })
}

/**
 * M/G/1: one server, any service. Pollaczek–Khinchine: Wq = λE[S²] / (2 (1 − ρ)), where E[S²] = S² (1 + C²).
 * `variation` is C², the variance of the service time over its squared mean: 0 constant, 1 exponential.
 */
export function mg1({ variation, ...load }: Load & { readonly variation: number }): SteadyQueue | undefined {
  const utilisation = workOf(load)
  if (!(utilisation < 1)) return undefined
  return steady(load, 1, (utilisation * load.serviceMs * (1 + variation)) / (2 * (1 - utilisation)))
}

/** M/M/c: c servers before one queue. Wq = C(c, a) S / (c (1 − ρ)), with Erlang's C for those who must wait at all. */
export function mmc({ servers, ...load }: Load & { readonly servers: number }): SteadyQueue | undefined {
  const work = workOf(load)
  const mustWait = erlangC({ servers, work })
  return mustWait === undefined ? undefined : steady(load, servers, (mustWait * load.serviceMs) / (servers - work))
}

/** The time within which this share of answers has come, in M/M/1: P(T > t) = e^(−t (1 − ρ) / S). */
export function mm1QuantileMs(load: Load, share: number): number | undefined {
  const queue = mm1(load)
  return queue && -Math.log1p(-share) * queue.timeMs
}

/** How much work is offered, in servers that it would keep busy: Erlang's a = λS. */
export interface Offered {
  readonly servers: number
  readonly work: number
}

/** Erlang B: the share that is turned away when nobody may wait. B(0) = 1, B(k) = aB(k−1) / (k + aB(k−1)). */
export function erlangB({ servers, work }: Offered): number {
  // By recursion: a^c / c! would overflow long before a thousand servers.
  let turnedAway = 1
  for (let server = 1; server <= servers; server++) turnedAway = (work * turnedAway) / (server + work * turnedAway)
  return turnedAway
}

/** Erlang C: the share that must wait. C = B / (1 − ρ (1 − B)). */
export function erlangC({ servers, work }: Offered): number | undefined {
  if (!(work < servers)) return undefined
  const turnedAway = erlangB({ servers, work })
  return turnedAway / (1 - (work / servers) * (1 - turnedAway))
}

/** M/M/1/K: the share that finds all K places taken, (1 − ρ) ρ^K / (1 − ρ^(K+1)); 1 / (K + 1) at ρ = 1. */
export function blockedShare({ places, ...load }: Load & { readonly places: number }): number {
  const utilisation = workOf(load)
  if (utilisation === 1) return 1 / (places + 1)
  // Above 1 in powers of 1/ρ, which do not overflow.
  if (utilisation > 1) return (1 - 1 / utilisation) / (1 - utilisation ** -(places + 1))
  return ((1 - utilisation) * utilisation ** places) / (1 - utilisation ** (places + 1))
}

/**
 * Serial clients: each thinks, calls, and waits for its answer before it thinks again. Mean value analysis, exact for
 * exponential times: R(n) = S (1 + Q(n−1)), X(n) = n / (R + Z), Q(n) = XR (M. Reiser and S. Lavenberg, 1980).
 */
export function closedQueue(loop: {
  readonly clients: number
  readonly serviceMs: number
  readonly thinkMs: number
}): SteadyQueue & { readonly callsPerSecond: number } {
  const { clients, serviceMs, thinkMs } = loop
  let [timeMs, callsPerSecond, present] = [serviceMs, 0, 0]
  for (let count = 1; count <= clients; count++) {
    timeMs = serviceMs * (1 + present)
    callsPerSecond = (1_000 * count) / (timeMs + thinkMs)
    present = (callsPerSecond * timeMs) / 1_000
  }
  const utilisation = (callsPerSecond * serviceMs) / 1_000
  return { utilisation, waitMs: timeMs - serviceMs, timeMs, waiting: present - utilisation, present, callsPerSecond }
}

/**
 * Clients that find the one server busy come back after an exponential wait, again and again, for ever: on average
 * ρ² / (1 − ρ) · (1 + μ/θ) of them are waiting to. Patience costs waiting, never stability: that is ρ < 1 for any wait.
 */
export function meanOrbit({ retryMs, ...load }: Load & { readonly retryMs: number }): number | undefined {
  const queue = mm1(load)
  return queue && queue.waiting * (1 + retryMs / load.serviceMs)
}

function workOf({ arrivalsPerSecond, serviceMs }: Load): number {
  return (arrivalsPerSecond * serviceMs) / 1_000
}

/** Little: L = λW, for those who wait as for all who are there. */
function steady(load: Load, servers: number, waitMs: number): SteadyQueue {
  const timeMs = waitMs + load.serviceMs
  const perMs = load.arrivalsPerSecond / 1_000
  return { utilisation: workOf(load) / servers, waitMs, timeMs, waiting: perMs * waitMs, present: perMs * timeMs }
}
