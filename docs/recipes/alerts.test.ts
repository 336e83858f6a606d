import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import { readPage } from './pages.ts'
import { aService } from './service.test-kit.ts'

const rules = readPage('docs/alerts.yml')
const named = new Set(rules.match(/\bretry_[a-z_]+\b/g))

describe('the rules for Prometheus', () => {
  it('name metrics that the service has, and no others', async () => {
    const { url } = await aService()
    const text = await (await fetch(`${url}/metrics`)).text()
    const types = new Map(Array.from(text.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name, type]) => [name!, type!]))
    assert.ok(named.size > 8)
    for (const name of named) {
      const isBucket = types.get(name.replace(/_bucket$/, '')) === 'histogram'
      assert.ok(types.has(name) || isBucket, `${name} does not exist`)
    }
  })

  it('are there for all that the page says to look at', () => {
    const page = readPage('docs/operations.md')
    const table = page.slice(page.indexOf('| metric | look when |'), page.indexOf('## When something is wrong'))
    const looked = Array.from(table.matchAll(/^\| `(retry_[a-z_]+)/gm), ([, name]) => name!)
    assert.ok(looked.length > 5)
    for (const name of looked) assert.ok(named.has(name) || named.has(`${name}_bucket`), `no rule for ${name}`)
  })

  it('pass promtool check rules', ({ skip }) => {
    if (spawnSync('promtool', ['--version']).status !== 0) skip('no promtool on this machine')
    const { status, stderr } = spawnSync('promtool', ['check', 'rules', 'docs/alerts.yml'], { encoding: 'utf8' })
    assert.equal(status, 0, stderr)
  })

  it('wake nobody for what a gate holds, and for what only the service keeps somebody', ({ skip }) => {
    if (spawnSync('promtool', ['--version']).status !== 0) skip('no promtool on this machine')
    const folder = mkdtempSync(join(tmpdir(), 'secondwind-alerts-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    writeFileSync(
      join(folder, 'tests.yml'),
      JSON.stringify({ rule_files: [resolve('docs/alerts.yml')], ...UNIT_TESTS }),
    )
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'tests.yml'], {
      cwd: folder,
      encoding: 'utf8',
    })
    assert.equal(status, 0, stdout + stderr)
  })
})

/** In promtool's own words: `a+bxn` begins at a and grows by b, n times. */
const UNIT_TESTS = {
  tests: [
    {
      // Half an hour behind a breaker or a pause; a minute of it in every lateness.
      interval: '1m',
      input_series: [
        { series: 'retry_oldest_due_seconds', values: '0x30' },
        { series: 'retry_oldest_held_seconds', values: '0+60x30' },
        ...buckets('retry_lateness_seconds', '60'),
        ...buckets('retry_own_lateness_seconds', '0.001'),
      ],
      alert_rule_test: ['SecondwindTasksOverdue', 'SecondwindHeldLong', 'SecondwindLate'].map(alertname => ({
        alertname,
        eval_time: '30m',
        exp_alerts: [],
      })),
    },
    {
      // Nothing holds it, and it does not go out, or late.
      interval: '1m',
      input_series: [
        { series: 'retry_oldest_due_seconds', values: '0+60x30' },
        ...buckets('retry_own_lateness_seconds', '60'),
      ],
      alert_rule_test: [fires('SecondwindTasksOverdue', 'page'), fires('SecondwindLate', 'ticket')],
    },
  ],
}

/** Ten attempts a minute, all of them within this bound of a histogram and none within a lower one. */
function buckets(name: string, bound: string): readonly object[] {
  const bounds = ['0.001', '1', '60', '+Inf']
  return bounds.map((le, at) => ({
    series: `${name}_bucket{le="${le}"}`,
    values: at < bounds.indexOf(bound) ? '0x30' : '0+10x30',
  }))
}

function fires(alertname: string, severity: string): object {
  const [, summary] = new RegExp(`alert: ${alertname}\\n[^]*?summary: (.+)`).exec(rules)!
  return { alertname, eval_time: '30m', exp_alerts: [{ exp_labels: { severity }, exp_annotations: { summary } }] }
}
