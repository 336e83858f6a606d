import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { runScenario } from '../run-scenario.ts'
import { checkScenario } from './check-scenario.ts'
import { SCENARIOS } from './named.ts'

const runOf = (name: string): ReturnType<typeof runScenario> => runScenario(SCENARIOS[name]!)

describe('named scenarios', () => {
  it('are right, plain JSON, and call their policy by its name', () => {
    for (const [name, scenario] of Object.entries(SCENARIOS)) {
      assert.deepEqual(checkScenario(JSON.parse(JSON.stringify(scenario))), { scenario })
      assert.equal(scenario.name, name)
      assert.ok(scenario.clients.every(({ pipeline }) => pipeline === 'policy'))
    }
  })

  it('show what they say', () => {
    assert.equal(runOf('metastable').recovery.isMetastable, true)
    const outage = runOf('outage')
    assert.equal(outage.recovery.isMetastable, false)
    assert.ok(outage.dependencies['dependency']!.amplification < 1.15)
    assert.ok(runOf('errors').clients['clients']!.successShare > 0.99)
    assert.ok(runOf('storm').dependencies['database']!.amplification > 1.2)
    assert.ok(runOf('fail-over').clients['clients']!.successShare > 0.999)
  }, 60_000)

  it('with a slow tail are better off with hedges', () => {
    const scenario = SCENARIOS['slow-tail']!
    const plain = runScenario({ ...scenario, pipelines: { policy: { name: 'policy', retry: {} } } })
    assert.ok(plain.clients['clients']!.latency.p99Ms > 400)
    assert.ok(runOf('slow-tail').clients['clients']!.latency.p99Ms < 150)
  })
})
