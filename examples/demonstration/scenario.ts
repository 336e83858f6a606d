/** The story in numbers. Everything else reads them from here. */
export const SCENARIO = {
  /** Each client makes the same calls, at the same instants. */
  callsPerSecond: 100,
  lengthMs: 9_000,
  /** One call in so many is lost on its way, outage or not: the reason why one retries at all. */
  lostOneIn: 12,
  /** The server answers nothing but 503 from here … */
  downFromMs: 4_000,
  /** … to here. */
  downUntilMs: 6_000,
  /** What serving one call costs it: 166 a second and it is busy, two thirds more than it is asked for. */
  serveMs: 6,
  /** What turning one away costs it, though the 503 goes out at once: it was received, read and logged like any other. */
  refuseMs: 3,
  /** The longest queue. Whoever comes then is turned away. Long enough for the hiccups of a busy machine. */
  maxQueueMs: 300,
  /** More work than that does not pile up: a server that is so far behind drops what comes without looking at it. */
  maxBacklogMs: 1_000,
  /** A naive client's patience. */
  naiveTries: 5,
  seed: 2_026,
} as const

export const TOTAL_CALLS = (SCENARIO.callsPerSecond * SCENARIO.lengthMs) / 1_000
