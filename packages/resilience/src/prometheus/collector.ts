import { checkFields, text, wholeNumber } from '../check/problems.ts'
import { InvalidOptionError } from '../wire/errors.ts'
import type { Telemetry } from '../ports/telemetry.ts'
import { countedFamilies } from './families.ts'
import { watchedFamilies, type Watched } from './gauges.ts'
import { LabelSets } from './label-sets.ts'
import { count } from './series.ts'
import { asText, CONTENT_TYPE, labelValue } from './text.ts'

export interface CollectorOptions {
  /** The label `client` of what is heard through `telemetry` and of what is watched without a name; else `default`. */
  readonly client?: string
  /** So many pairs of client and op are told apart; else 100. */
  readonly maxLabelSets?: number
}

/** Seven thousand lines at the most: a scrape takes milliseconds, whoever chooses the names of operations. */
const DEFAULT_MAX_LABEL_SETS = 100

export interface Collector {
  /** To be given to `observe`, or as an option to whatever is to be counted alone. */
  readonly telemetry: Telemetry
  /** The same for another client, where a program tells several apart. */
  telemetryOf(client: string): Telemetry
  /** Shows a budget, a breaker or a limiter as it is at each scrape, until the returned function is called. */
  watch(watched: Watched): () => void
  /** The answer to a scrape. */
  metrics(): string
  /** The type of that answer. */
  readonly contentType: string
  /** Counts no more, and lets go of everything that was counted and watched. */
  close(): void
}

/** Counts events in the words of Prometheus. What it hears twice, from `observe` and from an option, it counts twice. */
export function createCollector(options: CollectorOptions = {}): Collector {
  const problems = checkFields(options, { client: text(1_000), maxLabelSets: wholeNumber(1, 100_000) })
  if (problems.length > 0) throw new InvalidOptionError('createCollector cannot count like this', problems)
  const { client: ownClient = 'default', maxLabelSets = DEFAULT_MAX_LABEL_SETS } = options
  const labelSets = new LabelSets(maxLabelSets)
  const watched = new Set<Watched & { readonly client: string }>()
  let isClosed = false

  const telemetryOf =
    (client: string): Telemetry =>
    event => {
      if (isClosed || !('operationId' in event)) return
      // A pipeline says its own name; a bare call is counted for whoever hands over its events.
      count(labelSets.seriesOf(labelValue(event.client ?? client), labelValue(event.name)), event)
    }
  return {
    telemetry: telemetryOf(ownClient),
    telemetryOf,
    watch(what) {
      const entry = { ...what, client: labelValue(what.client ?? ownClient) }
      if (!isClosed) watched.add(entry)
      return () => void watched.delete(entry)
    },
    metrics: () => asText([...countedFamilies(labelSets.all()), ...watchedFamilies([...watched], maxLabelSets)]),
    contentType: CONTENT_TYPE,
    close() {
      isClosed = true
      labelSets.clear()
      watched.clear()
    },
  }
}
