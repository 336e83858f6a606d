import { drawsOf } from '../chance/draws.ts'
import type { Die } from '../chance/streams.ts'
import type { ClientGroup, RatePoint } from '../scenario/scenario.ts'
import { RateCurve } from './rate-curve.ts'
import { ClosedSource, OpenSource, TraceSource, type Source } from './sources.ts'

/** What makes a group of clients call. */
export function sourceOf(
  common: ConstructorParameters<typeof OpenSource>[0],
  { arrivals, count = 1 }: ClientGroup,
  dieOf: (what: string) => Die,
): Source {
  const die = dieOf('arrivals')
  const open = (points: readonly RatePoint[], isEven: boolean): Source =>
    new OpenSource(common, { curve: new RateCurve(points), die, isEven })
  switch (arrivals.kind) {
    case 'poisson':
      return open([{ atMs: 0, perSecond: arrivals.perSecond }], false)
    case 'constant':
      return open([{ atMs: 0, perSecond: arrivals.perSecond }], true)
    case 'ramp':
      return open(arrivals.points, arrivals.even ?? false)
    case 'spike': {
      const { perSecond, peakPerSecond, fromMs, untilMs, even = false } = arrivals
      const [usual, peak] = [perSecond, peakPerSecond]
      return open(
        [
          { atMs: fromMs, perSecond: usual },
          { atMs: fromMs, perSecond: peak },
          { atMs: untilMs, perSecond: peak },
          { atMs: untilMs, perSecond: usual },
        ],
        even,
      )
    }
    case 'trace':
      return new TraceSource(common, arrivals.atMs)
    case 'closed':
      return new ClosedSource(common, { clients: count, thinkMs: drawsOf(arrivals.thinkMs, die), firstAtMs: 0 })
    case 'together':
      return new ClosedSource(common, { clients: count, thinkMs: undefined, firstAtMs: arrivals.atMs })
  }
}
