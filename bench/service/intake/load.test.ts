import assert from 'node:assert/strict'
import { it } from 'node:test'
import { readWrk } from './load.ts'

const SAID = `Running 2s test @ http://127.0.0.1:40001/
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     5.05ms    1.02ms  21.10ms   91.20%
  Latency Distribution
     50%    4.80ms
     99%   10.98ms
  25341 requests in 2.00s, 3.10MB read
Requests/sec:  12664.03
Transfer/sec:      1.55MB
`

it('reads the rate and the 99th percentile off what wrk prints', () => {
  assert.deepEqual(readWrk(SAID), { perSecond: 12_664.03, p99Ms: 10.98 })
  assert.equal(readWrk(SAID.replace('10.98ms', '1.20s')).p99Ms, 1_200)
  assert.equal(readWrk(SAID.replace('10.98ms', '500.00us')).p99Ms, 0.5)
})

it('takes no figure from a load that met failures', () => {
  assert.throws(() => readWrk(`${SAID}  Non-2xx or 3xx responses: 3\n`), /met failures: Non-2xx or 3xx responses: 3/)
  assert.throws(() => readWrk('wrk: no such option'), /wrk said something else/)
})
