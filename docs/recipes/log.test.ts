import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, it } from 'vitest'
import { readPage } from './pages.ts'

const page = readPage('docs/operations.md')
const section = page.slice(page.indexOf('### The log'), page.indexOf('**Beyond this machine.**'))
const source = globSync('packages/service/src/**/*.ts', { exclude: ['**/*.test.ts', '**/*.test-kit.ts'] })
  .map(path => readFileSync(path, 'utf8'))
  .join('\n')

describe('the page on the log', () => {
  it('has every line that the service writes, at its level and above info', () => {
    const calls = source.matchAll(/log\.(?:info|warn|error)\((?:[^()]|\([^()]*\))*?, '([^']+)'\)/g)
    const written = Array.from(calls, ([, text]) => text!)
    assert.ok(written.length > 5, written.join())
    for (const text of written) assert.ok(section.includes(`\`${text}\``), `${text} is not described`)
  })

  it('has lines, fields and codes that there are', () => {
    const table = section.split('\n').filter(line => line.startsWith('| `'))
    const named = table.flatMap(line => Array.from(line.matchAll(/`([^`<]+)`/g), ([, text]) => text!))
    const codes = Array.from(section.slice(section.indexOf('Codes of')).matchAll(/`([\w-]+)`/g), ([, code]) => code!)
    assert.ok(named.length > 20 && codes.length > 8)
    for (const text of named.filter(text => text !== 'msg')) assert.ok(source.includes(text), `there is no ${text}`)
    for (const code of codes) assert.ok(source.includes(`'${code}'`), `there is no ${code}`)
  })
})
