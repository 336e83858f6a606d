import { sayMs, sayNumber, sayShare } from '../plots/format.ts'
import type { Fact, Verdict } from '../report/report.ts'
import type { DeliveryMeasure, DeliveryReading } from './delivery-reading.ts'
import { deliverySpread } from './delivery-reading.ts'
import type { DeliveryResult } from './delivery-result.ts'

/** One scenario with every seed, and the run that is drawn. */
export interface DeliveryTrial {
  readonly readings: readonly DeliveryReading[]
  readonly middle: DeliveryResult
  /** The first; the others follow it one by one. */
  readonly seed: number
}

/** What happened to the tasks, in numbers; over several seeds as means with the least and the most. */
export function deliveryFactsOf({ readings, middle, seed }: DeliveryTrial): readonly Fact[] {
  const say: Say = (measure, show, missing) => sayMeasure(readings, measure, { show, missing })
  const hasTrouble = middle.returnsAtMs !== undefined
  const isGone = readings.some(({ gone99AfterMs }) => gone99AfterMs !== undefined)
  const since = hasTrouble ? 'after the return' : 'after the last arrival'
  return [
    {
      name: 'delivered',
      value: say('deliveredShare', sayShare, 'nothing'),
      note: `of ${sayNumber(middle.all.tasks)} tasks`,
    },
    ...deadFacts(middle),
    ...(hasTrouble
      ? [
          { name: 'requests while down', value: say('requestsWhileDown', sayNumber, 'none') },
          { name: 'first success', value: say('firstAfterMs', sayMs, 'never'), note: since },
        ]
      : []),
    {
      name: 'backlog gone',
      value: say('gone99AfterMs', sayMs, 'never'),
      ...(isGone && { note: `${since}, but for one task in 100` }),
    },
    { name: 'all of it', value: say('goneAfterMs', sayMs, 'never') },
    { name: 'half delivered within', value: say('p50LateMs', sayMs, 'never'), note: 'of their arrival' },
    { name: '99 in 100 within', value: say('p99LateMs', sayMs, 'never') },
    { name: 'the last within', value: say('longestLateMs', sayMs, 'never') },
    { name: 'failed attempts a task', value: say('failedPerTask', sayNumber, 'none') },
    ...groupFacts(middle),
    {
      name: 'seed',
      value: readings.length === 1 ? String(seed) : `${readings.length} of them, least and most in brackets`,
    },
  ]
}

type Say = (measure: DeliveryMeasure, show: (value: number) => string, missing: string) => string

function sayMeasure(
  readings: readonly DeliveryReading[],
  measure: DeliveryMeasure,
  { show, missing }: { readonly show: (value: number) => string; readonly missing: string },
): string {
  const found = deliverySpread(readings, measure)
  if (found === undefined) {
    const without = readings.filter(reading => reading[measure] === undefined).length
    return without === readings.length ? missing : `${missing} in ${without} of ${readings.length} runs`
  }
  const [least, most] = [show(found.least), show(found.most)]
  return least === most ? show(found.mean) : `${show(found.mean)} (${least} to ${most})`
}

function deadFacts({ all: { dead, unsent, waiting } }: DeliveryResult): readonly Fact[] {
  const unsentNote = unsent === 0 ? {} : { note: `${sayNumber(unsent)} never sent` }
  return [
    ...Object.entries(dead).map(([reason, count]) => ({
      name: `dead: ${reason}`,
      value: sayNumber(count),
      ...(reason === 'deadline' && unsentNote),
    })),
    ...(waiting === 0 ? [] : [{ name: 'still waiting', value: sayNumber(waiting), note: 'at the end of the run' }]),
  ]
}

/** One line for each group, where there are several. */
function groupFacts({ groups }: DeliveryResult): readonly Fact[] {
  const named = Object.entries(groups)
  if (named.length < 2) return []
  return named.map(([name, { tasks, delivered, lateness, failedAttempts }]) => ({
    name,
    value: `${sayNumber(delivered)} of ${sayNumber(tasks)} delivered`,
    note:
      delivered === 0 ? `${sayNumber(failedAttempts)} failed attempts` : `99 in 100 within ${sayMs(lateness.p99Ms)}`,
  }))
}

/** The result for the tasks, in a sentence. */
export function deliveryVerdictOf({ readings, middle }: DeliveryTrial): Verdict {
  const share = deliverySpread(readings, 'deliveredShare')?.mean ?? 0
  const dead = deliverySpread(readings, 'dead')?.mean ?? 0
  const gone = deliverySpread(readings, 'gone99AfterMs')
  const since = middle.returnsAtMs === undefined ? 'the last arrival' : 'the return of the destination'
  const others = Object.values(middle.groups).reduce((sum, { tasks }) => sum + tasks, -middle.all.tasks)
  const [which, whose] = others === 0 ? ['No task', 'the'] : ['No task that can be delivered', 'their']
  const rest = others === 0 ? '' : ` ${sayNumber(others)} others always fail.`
  if (middle.all.tasks === 0) return { kind: 'neither', say: 'No task arrived that could ever be delivered.' }
  if (dead > 0)
    return {
      kind: 'bad',
      say: `${sayShare(share)} of the tasks are delivered; ${sayNumber(dead)} die: ${reasonsOf(middle)}.`,
    }
  if (gone === undefined)
    return { kind: 'neither', say: `${sayShare(share)} of the tasks are delivered when the run ends; none dies.` }
  return {
    kind: 'good',
    say: `${which} dies; ${whose} backlog is gone ${gone.mean === 0 ? 'at' : `${sayMs(gone.mean)} after`} ${since}.${rest}`,
  }
}

/** The run that is drawn may be one in which none dies. */
function reasonsOf({ all: { dead } }: DeliveryResult): string {
  const said = Object.entries(dead).map(([reason, count]) => `${sayNumber(count)} by ${reason}`)
  return said.length === 0 ? 'none in the run that is drawn' : said.join(', ')
}
