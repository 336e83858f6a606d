// The built files on an old Node: what users import, not what we write.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkScenario, runScenario } from '@secondwind/lab'

const scenario = {
  name: 'smoke',
  durationMs: 10_000,
  clients: [{ name: 'clients', calls: 'server', pipeline: 'policy', arrivals: { kind: 'poisson', perSecond: 100 } }],
  pipelines: { policy: { maxAttempts: 3 } },
  dependencies: { server: { serviceMs: 10, errorRate: 0.1 } },
}

test('a scenario is run, the same way each time', () => {
  const first = runScenario(scenario, { seed: 3 })
  assert.ok(first.clients.clients.successShare > 0.95)
  assert.deepEqual(runScenario(scenario, { seed: 3 }), first)
})

test('a wrong one is told what is wrong', () => {
  assert.equal(checkScenario({ ...scenario, durationMs: 0 }).problems.length, 1)
})
