import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { DEFAULT_LANE } from '@secondwind/resilience/rules'
import { describe, it, onTestFinished, vi } from 'vitest'
import { readPage } from './pages.ts'
import { aService } from './service.test-kit.ts'

// Processes, sockets and disks take as long as the machine lets them.
vi.setConfig({ testTimeout: 60_000 })

const run = promisify(execFile)
const page = readPage('docs/api.md')

/** A refusal ends the shell, but for the one that the page shows on purpose; a stream that never ends is heard for a second. */
const CURL = `curl() {
  case "$*" in
    */events*) command curl -sS --fail-with-body --max-time 1 "$@" || test $? -eq 28 ;;
    *'{"url":'*) command curl -sS "$@" ;;
    *) command curl -sS --fail-with-body "$@" ;;
  esac
}`

/** What was done just before is not in every list yet, and a plan takes its moment. */
const A_MOMENT = /dead-letters\?|replays\/\$R|\/replays\?/

function sectionOf(heading: string): string {
  const section = page.split(/^#{2,3} /m).find(part => part.startsWith(`${heading}\n`))
  assert.ok(section !== undefined, heading)
  return section
}

/** As far as it is read here. */
interface OpenApi {
  readonly paths: {
    readonly [path: string]: {
      readonly post?: {
        readonly requestBody: { readonly content: { readonly 'application/json': { readonly schema: Fields } } }
      }
    }
  }
}

interface Fields {
  readonly properties: object
}

async function described(): Promise<OpenApi> {
  const { url } = await aService()
  return (await (await fetch(`${url}/openapi.json`)).json()) as OpenApi
}

describe('the page on the API', () => {
  it('works when it is pasted from beginning to end', async () => {
    const { url } = await aService()
    const folder = mkdtempSync(join(tmpdir(), 'secondwind-api-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const blocks = Array.from(page.matchAll(/^```sh\n(.*?)^```$/gms), ([, lines]) => lines!)
    assert.ok(blocks.length > 20)
    const paced = blocks.map(lines => (A_MOMENT.test(lines) ? `sleep 2\n${lines}` : lines))
    const script = [CURL, ...paced].join('\n').replaceAll(/(?:localhost|127\.0\.0\.1):4747/g, new URL(url).host)
    // A command whose output is taken into a variable ends the shell by itself only if its pipe fails as a whole.
    const { stdout } = await run('bash', ['-e', '-o', 'pipefail', '-c', script], { cwd: folder, maxBuffer: 1e8 })
    assert.match(stdout, /"code":"invalid-request"[^]*did you mean targetUrl/)
    assert.match(stdout, /"tenant":"acme","isOperator":false/)
  })

  it('has every resource in its table of operations', async () => {
    const table = /^\| operation \|.*?\n\n/ms.exec(page)![0]
    const resources = new Set(Object.keys((await described()).paths).map(path => path.split('/')[1]!))
    assert.ok(resources.has('replays'))
    assert.deepEqual(
      [...resources].filter(resource => !table.includes(`/${resource}`)),
      [],
    )
  })

  it('has every gate before which a task can stand', async () => {
    const [, gates] = /"enum":\[("kill-switch",[^\]]*)\]/.exec(JSON.stringify(await described()))!
    assert.deepEqual(
      gates!.split(',').filter(gate => !sectionOf('Why it waits').includes(gate.replaceAll('"', '`'))),
      [],
    )
  })

  it('has every field of credit with what it is unless set', () => {
    const [, table = ''] = sectionOf('Its settings').split('| field of `limits.credit` |')
    const rows = Array.from(table.matchAll(/^\| `(\w+)` \|.*\| `?([^|`]+)`? \|$/gm), ([, field, usual]) => [
      field!,
      JSON.parse(usual!),
    ])
    assert.deepEqual(Object.fromEntries(rows), DEFAULT_LANE.credit)
  })

  it.each(['Keys', 'Tenants', 'Secrets'])('has every field that makes one of %s', async heading => {
    const { post } = (await described()).paths[`/${heading.toLowerCase()}`]!
    const { properties } = post!.requestBody.content['application/json'].schema
    assert.deepEqual(
      Object.keys(properties).filter(field => !sectionOf(heading).includes(`\`${field}\``)),
      [],
    )
  })
})
