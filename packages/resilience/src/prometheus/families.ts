import { COUNTERS, GIVEUPS, HISTOGRAMS, type CounterName, type HistogramName } from './metrics.ts'
import type { Histogram, Series } from './series.ts'
import { numberText, type Family, type Sample } from './text.ts'

/** What was counted, metric by metric. */
export function countedFamilies(all: readonly Series[]): Family[] {
  const counters = Object.entries(COUNTERS).map(([name, help]): Family => {
    const samples = all.map(({ labels, counters }) => ({ labels, value: counters[name as CounterName] }))
    return { name, type: 'counter', help, samples }
  })
  const giveups = all.flatMap(({ labels, giveups }) =>
    Array.from(giveups, ([reason, value]) => ({ labels: { ...labels, reason }, value })),
  )
  const histograms = Object.entries(HISTOGRAMS).map(([name, { help }]): Family => {
    const samples = all.flatMap(({ labels, histograms }) => bucketsOf(labels, histograms[name as HistogramName]))
    return { name, type: 'histogram', help, samples }
  })
  return [...counters, { ...GIVEUPS, type: 'counter', samples: giveups }, ...histograms]
}

/** Each bucket holds whatever is smaller too: so they can be added up over machines and still be read. */
function bucketsOf(labels: Series['labels'], { buckets, counts, sum }: Histogram): Sample[] {
  let value = 0
  const cumulative = [...buckets, Infinity].map((end, place) => {
    value += counts[place]!
    return { suffix: '_bucket', labels: { ...labels, le: numberText(end) }, value }
  })
  return [...cumulative, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value }]
}
