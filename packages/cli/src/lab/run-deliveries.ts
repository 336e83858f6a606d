import {
  deliveriesOf,
  deliveryFactsOf,
  deliverySpreads,
  deliveryVerdictOf,
  latenessOf,
  reportHtml,
  type DeliveryResult,
  type DeliveryScenario,
  type DeliveryTrial,
  type Picture,
  type PolicyDocument,
  type ReportInput,
} from '@secondwind/lab'
import type { Answer, Call } from '../command.ts'
import { readOptions } from '../input/read-options.ts'
import { readsInput, typed, typedWith } from '../input/typed.ts'
import { fileAt } from '../output/output-file.ts'
import { drawOn, FILE_READERS, pictureFile } from '../output/picture-options.ts'
import type { Table } from '../terminal/table.ts'
import type { DeliveryChoice } from './delivery-choice.ts'
import { measureDeliveries } from './delivery-trials.ts'
import { showFacts } from './show-facts.ts'
import { OTHER_WORLDS } from './world-options.ts'

/** Tasks that the service delivers: as a picture, numbers and a sentence. */
export async function runDeliveries(
  { at, seeds }: DeliveryChoice,
  policy: PolicyDocument | undefined,
  { words, options, terminal }: Call,
): Promise<Answer> {
  const { svg, html } = readOptions(options, FILE_READERS)
  const scenario = at(policy)
  const trial = await measureDeliveries(scenario, seeds, terminal)
  const { readings, middle } = trial
  const verdict = deliveryVerdictOf(trial)
  const next = [nextOf(scenario, seeds, { words, options })]
  const picture = deliveriesOf(middle, scenario)
  return {
    data: {
      scenario,
      seeds,
      readings,
      ...(readings.length > 1 && { spreads: deliverySpreads(readings) }),
      judgement: verdict.kind,
      next,
      result: middle,
    },
    csv: seriesTable(middle),
    show: page => [drawOn(page, picture), showFacts(deliveryFactsOf(trial), page)].join('\n\n'),
    verdict: verdict.say,
    next,
    files: [
      ...pictureFile(svg, picture),
      ...fileAt(html, () => reportOf(scenario, trial, { picture, verdict, next, origin: typed(words) })),
    ],
  }
}

function reportOf(
  { name, about }: DeliveryScenario,
  trial: DeliveryTrial,
  { picture, ...rest }: Pick<ReportInput, 'verdict' | 'next' | 'origin'> & { readonly picture: Picture },
): string {
  const { readings, middle } = trial
  const drawn = `One of ${readings.length} runs is drawn, that in the middle by its recovery: seed ${middle.seed}`
  const text = [about, ...(readings.length > 1 ? [drawn] : [])].filter(said => said !== undefined).join('. ')
  return reportHtml({
    title: `${name}: what the service delivers`,
    ...rest,
    facts: deliveryFactsOf(trial),
    sections: [
      { heading: 'Tasks and requests', ...(text && { text }), picture },
      { heading: 'Lateness', picture: latenessOf(middle) },
    ],
  })
}

function seriesTable({ stepMs, perStep: { waiting, answered, failed } }: DeliveryResult): Table {
  return {
    columns: ['atMs', 'waiting', 'answered', 'failed'].map(name => ({ name })),
    rows: waiting.map((tasks, step) => [step * stepMs, tasks, answered[step] ?? 0, failed[step] ?? 0]),
  }
}

/** What helps most where it is known; then whether chance decided. */
function nextOf(
  { destination: { limit }, lane = {} }: DeliveryScenario,
  seeds: readonly number[],
  { words, options: { set } }: Pick<Call, 'words' | 'options'>,
): string {
  if (readsInput(words)) return OTHER_WORLDS
  if (limit !== undefined && lane.rateLimit === undefined && set === undefined)
    return typedWith(words, '--set', `lane.rateLimit.perSecond=${limit.perSecond}`)
  if (seeds.length === 1) return typedWith(words, '--runs', '20')
  return typedWith(words, '--seed', String((seeds.at(-1) ?? 0) + 1))
}
