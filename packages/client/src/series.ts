import { check } from '@secondwind/resilience/rules'
import type { Call, Caller } from './caller.ts'
import { DESTINATION, INSTANT, refuse } from './check/fields.ts'
import type { Series, SeriesAsk } from './wire/series.ts'

export async function readSeries(caller: Caller, ask: SeriesAsk, { signal }: Call): Promise<Series> {
  refuse('the series cannot be read', check.checkFields(ask, FIELDS))
  return caller.ask({ method: 'GET', mark: 'slots', path: '/series', query: ask, signal })
}

const FIELDS: { readonly [field in keyof SeriesAsk]-?: check.FieldCheck } = {
  destination: DESTINATION,
  resolution: check.oneOf('second', 'minute'),
  from: INSTANT,
  to: INSTANT,
}
