import { withPolicy } from '@secondwind/lab'
import type { Answer, Call, Command } from '../command.ts'
import { readOptions, type Reader } from '../input/read-options.ts'
import { typed, typedWith } from '../input/typed.ts'
import { htmlFile, svgFile, writePicture, writeReport } from '../output/picture-options.ts'
import { showTable } from '../terminal/table.ts'
import { VARIANT_OPTIONS } from './compare.ts'
import { pictureOf, sayBest, showVariants, tryAll, variantsReport, variantsTable } from './variants.ts'
import { changed, jsonOr, POLICY_OPTIONS, readPolicyOptions, readWorld, SCENARIO_ARGUMENT } from './world-options.ts'

export const sweepCommand: Command = {
  path: ['lab', 'sweep'],
  summary: 'one parameter, many values',
  arguments: [{ usage: '[scenario]', say: `${SCENARIO_ARGUMENT} (outage)` }],
  options: [
    {
      flag: '--vary <path=values>',
      say: 'policy.maxAttempts=1..8, or a path of the scenario and a list: durationMs=1,2',
    },
    ...POLICY_OPTIONS,
    ...VARIANT_OPTIONS,
  ],
  examples: ['lab sweep --vary policy.maxAttempts=1..8 --budget off', 'lab sweep herd --vary clients.0.count=100,1000'],
  run: sweep,
}

async function sweep({ words, args, options, terminal }: Call): Promise<Answer> {
  const { vary, svg, html } = readOptions(options, { vary: variation, svg: svgFile, html: htmlFile })
  const named = (args[0] as string | undefined) ?? 'outage'
  const policy = (await readPolicyOptions(options, terminal)) ?? {}
  const { at, seeds } = await readWorld(named, options, terminal)
  const [what, ofPolicy] = vary.path.startsWith('policy.') ? [vary.path.slice(7), true] : [vary.path, false]
  const path = ofPolicy && 'retry' in policy && !what.includes('.') ? `retry.${what}` : what
  const variants = vary.values.map(value => ({
    name: String(value),
    scenario: ofPolicy
      ? at(changed(policy, { path, value }) as Parameters<typeof withPolicy>[1])
      : at(options['policy'] === undefined && options['budget'] === undefined ? undefined : (policy as never), {
          path,
          value,
        }),
  }))
  const tried = await tryAll(variants, seeds, terminal)
  const first = variants[0]!.scenario
  await writePicture(svg, pictureOf(tried, first), terminal)
  await writeReport(html, () => variantsReport(tried, first, what, typed(words)), terminal)
  const table = variantsTable(tried, what)
  return {
    data: { seeds, path: vary.path, variants: tried.map(({ name, readings }) => ({ value: name, readings })) },
    table,
    show: page => [showVariants(tried, first, page), showTable(table, page)].join('\n\n'),
    next: seeds.length === 1 ? [typedWith(words, '--runs', '20')] : [],
    verdict: sayBest(tried.map(one => ({ ...one, name: `${what} ${one.name}` }))),
  }
}

interface Variation {
  readonly path: string
  readonly values: readonly unknown[]
}

/** More would be a picture nobody reads. */
const MOST_VALUES = 200

/** `path=1..8` or `path=a,b,c`. */
const variation: Reader<Variation> = given => {
  const [, path, values = ''] = /^([^=]+)=(.+)$/s.exec(String(given)) ?? []
  if (path === undefined) return { must: 'a path and its values, such as policy.maxAttempts=1..8' }
  const [, from, to] = /^(\d+)\.\.(\d+)$/.exec(values) ?? []
  if (from === undefined) return { value: { path, values: values.split(',').map(jsonOr) } }
  const count = Number(to) - Number(from) + 1
  if (!(count >= 1 && count <= MOST_VALUES)) return { must: `a range of 1 to ${MOST_VALUES} values` }
  return { value: { path, values: Array.from({ length: count }, (_, index) => Number(from) + index) } }
}
