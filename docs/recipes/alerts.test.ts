import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'vitest'
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
})
