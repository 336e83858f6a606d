import { DEFAULT_CONFIG, startService } from '@secondwind/service'
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { describe, it, onTestFinished } from 'vitest'
import { inPipe } from '../command-line.test-kit.ts'
import { temporaryDirectory } from '../service/serve.test-kit.ts'
import type { Finding } from './finding.ts'

async function aService(): Promise<{ readonly data: string; readonly url: string }> {
  const data = temporaryDirectory()
  const config = { ...DEFAULT_CONFIG, port: 0, data }
  const service = await startService({ config, isDevelopment: true, log: () => {}, logLevel: 'error' })
  onTestFinished(() => service.stop())
  return { data, url: service.url }
}

async function dataFindings(...words: readonly string[]): Promise<readonly Finding[]> {
  const { stdout } = await inPipe(['doctor', '--json', ...words])
  const { findings } = JSON.parse(stdout) as { findings: readonly Finding[] }
  return findings.filter(({ check }) => check === 'data')
}

describe('doctor, of a directory and a service', () => {
  it('says when they belong together', async () => {
    const { data, url } = await aService()
    assert.deepEqual(await dataFindings('--data', data, '--url', url), [
      { check: 'data', level: 'ok', say: `The service at ${url} works in ${data}.` },
    ])
  })

  it('says when they do not: who has the directory, and how to look at that one', async () => {
    const [one, other] = [await aService(), await aService()]
    const [finding] = await dataFindings('--data', one.data, '--url', other.url)
    const holder = `${one.data} is in use by process ${process.pid}, which answers at ${one.url}`
    assert.deepEqual(finding, {
      check: 'data',
      level: 'warn',
      say: `${holder}, and not by the service at ${other.url}: this report is of two.`,
      next: `secondwind doctor --data ${one.data} --url ${one.url}`,
    })
    const [unanswered] = await dataFindings('--data', one.data, '--url', 'http://127.0.0.1:9')
    assert.deepEqual([unanswered?.say, unanswered?.next], [`${holder}.`, finding?.next])
  })

  it('says when nobody works in the directory, and leaves nothing in it', async () => {
    const { url } = await aService()
    const unused = temporaryDirectory()
    const [finding] = await dataFindings('--data', unused, '--url', url)
    assert.equal(finding?.level, 'warn')
    assert.match(finding.say, /^No service works in .* keeps its data elsewhere, and this report is of both\.$/)
    assert.deepEqual(readdirSync(unused), [])
    assert.deepEqual(await dataFindings('--data', unused, '--url', 'http://127.0.0.1:9'), [])
  })

  it('does not take the usual directory for that of a service that works elsewhere', async () => {
    const { url } = await aService()
    const [finding] = await dataFindings('--port', new URL(url).port)
    assert.match(finding!.say, /^Where .* keeps its data is not known here/)
  })
})
