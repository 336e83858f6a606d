import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'vitest'
import { checkDelivery, checkScenario, DEFAULT_DELIVERY, DEFAULT_QUEUE, DEFAULT_SCENARIO } from '@secondwind/lab'
import { runDelivery, runScenario, type DeliveryScenario, type Scenario } from '@secondwind/lab'
import { readPage } from './pages.ts'

const page = readPage('docs/scenarios.md')
const source = ['scenario/scenario', 'scenario/distribution', 'delivery/delivery']
  .map(name => readFileSync(`packages/lab/src/${name}.ts`, 'utf8'))
  .join('\n')
const [example, delivery] = Array.from(page.matchAll(/```json\n(.*?)```/gs), ([, json]) => JSON.parse(json!)) as [
  Scenario,
  DeliveryScenario,
]

/** Words that stand in the page as code, alone or among others. */
const said = new Set(Array.from(page.matchAll(/`([^`\n]+)`/g), ([, code]) => code!.match(/[\w-]+/g) ?? []).flat())

describe('the page about scenarios', () => {
  it('names every field, and every word that a field takes', () => {
    const fields = Array.from(source.matchAll(/readonly (\w+)\??:/g), ([, field]) => field!)
    const words = Array.from(source.matchAll(/'([a-z]+(?:-[a-z]+)*)'/g), ([, word]) => word!)
    assert.ok(fields.includes('dropsExpired') && words.includes('log-normal'))
    assert.deepEqual(
      [...fields, ...words].filter(word => word !== 'kind' && !said.has(word)),
      [],
    )
  })

  it('states the defaults as they are', () => {
    const { drainMs, warmUpMs, stepMs } = DEFAULT_SCENARIO
    assert.ok(page.includes(`followed; ${drainMs} unless told`))
    assert.ok(page.includes(`from then on; ${warmUpMs} unless told`))
    assert.ok(page.includes(`over time; ${stepMs} unless told`))
    const { order, overloadLength, targetMs, intervalMs } = DEFAULT_QUEUE
    for (const stated of [
      `\`${order}\` unless told`,
      `\`overloadLength\` (${overloadLength})`,
      `\`targetMs\` (${targetMs})`,
      `\`intervalMs\` (${intervalMs})`,
    ])
      assert.ok(page.includes(stated), stated)
  })

  it('shows a world without a problem, that does what is said about it', () => {
    assert.equal(checkScenario(example).problems, undefined)
    const { dependencies } = runScenario(example)
    assert.ok(dependencies['api']!.refused > 0)
    assert.ok(dependencies['db']!.retries > 0)
    assert.ok(dependencies['api']!.longestQueue <= 100)
  })

  it('shows a delivery without a problem, in which the good tasks are delivered beside the broken ones', () => {
    assert.equal(checkDelivery(delivery).problems, undefined)
    const { groups, requestsWhileDown } = runDelivery(delivery)
    assert.equal(groups['orders']!.delivered, 5_000)
    assert.equal(groups['broken']!.delivered, 0)
    assert.ok(requestsWhileDown! < 200)
  })

  it('states the defaults of a delivery as they are', () => {
    const { stepMs, downMs, latencyMs, limitStatus, burstSeconds } = DEFAULT_DELIVERY
    for (const stated of [
      `a column; ${stepMs} unless told`,
      `\`downMs\` later; ${downMs} unless told`,
      `response; ${latencyMs.fromMs} to ${latencyMs.toMs} ms unless told`,
      `\`status\`, ${limitStatus} unless told`,
    ])
      assert.ok(page.includes(stated), stated)
    assert.equal(burstSeconds, 1)
  })
})
