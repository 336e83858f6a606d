import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import { atTerminal, inPipe, type Ended } from '../command-line.test-kit.ts'
import { COMMANDS } from '../commands.ts'
import { isRemote, placedIn } from './examples.test-kit.ts'
import { anAnswer } from './service.test-kit.ts'

const ID = '01a1e2a2-09b8-7b02-87fa-57f25d3342be'
const FORGED = 'x\nFORGED LINE\r\u001b[2J\u001b]0;t\u0007\u009b2J\u202e"\u2028=1+1'
const NOW = 1_794_855_878_399

const TEXTS =
  'targetUrl method destination name policyId idempotencyKey createdBy waits note reason callbackUrl explanation outcome errorCode errorMessage causeId waitsFor breaker level tenant key secret auditId actor action subject bodyRef contentType backoffType jitterType'
const NUMBERS =
  'attemptNumber bodyBytes policyVersion version createdAt expiresAt generation at nextAttemptAt endedAt startedAt durationMs count firstAt lastAt asOf statusSince selected ratePerSecond limit backlog attempts oldestDueAt overlapsUntil sizeBytes maxAttempts clockSkewMs answeredAt'
const COUNTS = 'inFlight succeeded exhausted cancelled first retry held canary overLast now created existing refused'

/** Everything that any answer has, with these as its texts and its numbers. */
function anything(text: unknown, number: unknown): object {
  const all = (names: string, value: unknown): object => Object.fromEntries(names.split(' ').map(name => [name, value]))
  const forged = { [FORGED]: text }
  const counted = { lanes: 1, waitingTasks: number, count: number, isExact: true }
  const paused = { by: text, reason: text, since: number }
  const one = {
    ...all(TEXTS, text),
    ...all(NUMBERS, number),
    ...all(COUNTS, 1),
    ...all('taskId replayId controlId', ID),
    ...all('keyId secretId', '0123456789abcdef'),
    ...all('headers metadata details', forged),
    ...all('sampleTaskIds destinations scopes', [text]),
    ...all('holds newSince', counted),
    status: 'PENDING',
    response: { headers: forged, body: text, bodyEncoding: 'utf8' },
    lastAttempt: { outcome: text, responseStatus: number, errorCode: text, errorMessage: text },
    hold: { reason: text, until: number, level: text, controlId: text, others: [{ reason: text }] },
    skipped: [{ because: text, count: number, sampleTaskIds: [text] }],
    filter: { destination: text },
    counts: { moved: 1, left: number, waiting: number, underWay: 1, sent: 2, failed: 1, succeeded: 1, exhausted: 0 },
    recent: { windowMs: 1, attempts: 1, retryShare: 1, amplification: 1 },
    settings: { version: 1, name: text, paused, limits: { concurrency: 1 } },
    operatorSettings: { paused },
    scope: { kind: 'destination', destination: text },
    latencyMs: { p50: number, p99: 1 },
  }
  return { ...one, items: [one], slots: [one], controls: [one] }
}

const KINDS: { readonly [kind: string]: readonly [text: unknown, number: unknown] } = {
  'texts with lines of their own': [FORGED, NOW],
  null: [null, null],
  'numbers that are none': [-1e308, 1e308],
  objects: [{}, {}],
  lists: [[], [FORGED]],
}

/** What steers a terminal, but for the line breaks and tabs of a page. */
// oxlint-disable-next-line no-control-regex -- it is about them
const STEERS = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028\u2029\u202A-\u202E\u2066-\u2069]/

const REMOTE = COMMANDS.filter(isRemote).map(command => {
  const [example = ''] = command.examples
  const hasYes = command.options?.some(({ flag }) => flag === '--yes') ?? false
  return { name: command.path.join(' '), words: [...example.split(' '), ...(hasYes ? ['--yes'] : [])] }
})

/** Whoever watches waits for an end, whatever is said meanwhile. */
const ENDING = REMOTE.filter(({ name, words }) => name !== 'tasks watch' && !words.includes('--wait'))

/** Of what was printed: lines of the server's own, what steers, and bugs. */
function forgedIn({ stdout, stderr }: Ended): readonly string[] {
  const found = [stdout, stderr].flatMap(text =>
    [/^\s*FORGED LINE/m, STEERS, /^error bug.*/m].map(each => each.exec(text)),
  )
  return found.flatMap(match => match?.[0] ?? [])
}

describe.each(Object.entries(KINDS))(
  'a server that answers with %s writes no line of this program, and finds no bug:',
  (_, [text, number]) => {
    it.each(ENDING)('$name', async ({ words }) => {
      const folder = mkdtempSync(join(tmpdir(), 'secondwind-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      const url = await anAnswer((request, response) => {
        request.resume()
        response.writeHead(200, { 'content-type': 'application/json', etag: '"1"' })
        response.end(JSON.stringify(anything(text, number)))
      })
      const asked = [...words.map(word => placedIn(folder, word)), '--url', url]
      for (const run of [atTerminal, inPipe]) {
        assert.deepEqual(forgedIn(await run(asked)), [])
      }
    })
  },
)

describe('a server that refuses with a forged document', () => {
  it.each(REMOTE)('is told with nothing of its own: $name', async ({ name, words }) => {
    const folder = mkdtempSync(join(tmpdir(), 'secondwind-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const problem = { at: FORGED, is: FORGED, say: FORGED }
    const parts = { type: FORGED, title: FORGED, detail: FORGED, problems: [problem, null, 3], requestId: FORGED }
    for (const code of ['invalid-request', FORGED, null]) {
      const url = await anAnswer((request, response) => {
        request.resume()
        response.writeHead(400, { 'content-type': 'application/problem+json' })
        response.end(JSON.stringify({ ...parts, status: 400, code }))
      })
      const ended = await atTerminal([...words.map(word => placedIn(folder, word)), '--url', url])
      assert.deepEqual(forgedIn(ended), [])
      assert.match(name === 'doctor' ? ended.stdout : ended.stderr, /^(?:error |✕ bad)/m)
    }
  })
})
