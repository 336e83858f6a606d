/** What the lab predicts of a row. A live run should lie within the range of twenty seeds, give or take a fifth. */
import { deliveriesOverSeeds, type DeliveryMeasure, type DeliveryScenario } from '@secondwind/lab'
import { sayFigure, type Measure } from '../../packages/service/src/recovery/row.test-kit.ts'
import type { Reached } from './report.ts'

const SEEDS = 20
const SLACK = 0.2

/** The same rows in the words of the lab. */
const SCENARIOS: { readonly [row: string]: DeliveryScenario } = {
  'down-20-s': outage(20_000, { count: 1_000, perSecond: 100 }),
  'down-3-s': outage(3_000, { count: 300, perSecond: 50 }),
}

/** What the lab measures from the beginning of the run is shown from the return of the destination on. */
const MEASURES: { readonly [say: string]: { readonly of: DeliveryMeasure; readonly isFromBeginning?: true } } = {
  'first success after its return': { of: 'firstAfterMs' },
  '99 % delivered, after its return': { of: 'delivered99AtMs', isFromBeginning: true },
  'requests while down': { of: 'requestsWhileDown' },
}

function outage(forMs: number, { count, perSecond }: { count: number; perSecond: number }): DeliveryScenario {
  return {
    kind: 'delivery',
    name: 'outage',
    durationMs: 120_000,
    tasks: [{ name: 'tasks', count, arrivals: { kind: 'constant', perSecond } }],
    destination: {
      latencyMs: { kind: 'uniform', fromMs: 10, toMs: 20 },
      troubles: [{ kind: 'down', fromMs: 0, untilMs: forMs }],
    },
  }
}

/** A line for each figure that the lab predicts, too. */
export function predictionsFor(reached: readonly Reached[]): string[] {
  const rows = [...new Set(reached.map(({ row }) => row))]
  return rows.flatMap(row => {
    const scenario = SCENARIOS[row]
    if (scenario === undefined) return []
    const { spreads } = deliveriesOverSeeds(scenario, { runs: SEEDS })
    return reached.flatMap(({ row: of, measure, figure }) => {
      const predicted = MEASURES[measure.say]
      const spread = predicted && spreads[predicted.of]
      if (of !== row || spread === undefined) return []
      const beforeMs = predicted?.isFromBeginning ? returnOf(scenario) : 0
      const range = { least: spread.least - beforeMs, most: spread.most - beforeMs }
      return [sayPrediction(row, measure, figure, range)]
    })
  })
}

function returnOf({ destination: { troubles = [] } }: DeliveryScenario): number {
  return Math.max(0, ...troubles.map(({ untilMs }) => untilMs))
}

function sayPrediction(
  row: string,
  measure: Measure,
  figure: number,
  { least, most }: { readonly least: number; readonly most: number },
): string {
  const isWithin = figure >= least * (1 - SLACK) && figure <= most * (1 + SLACK)
  const range = `${sayFigure(measure, least)} to ${sayFigure(measure, most)}`
  return `${row}: ${measure.say}: the lab predicts ${range}, live ${sayFigure(measure, figure)}: ${isWithin ? 'agrees' : 'differs'}`
}
