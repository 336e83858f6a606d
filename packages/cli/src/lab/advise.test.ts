import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import { checkPolicy } from '@secondwind/resilience'
import { atTerminal, secondwind } from '../command-line.test-kit.ts'

const FLAGS = [
  ['--operation', 'write'],
  ['--idempotent', 'yes'],
  ['--user-facing', 'yes'],
  ['--rate-limited', 'no'],
  ['--critical', 'yes'],
  ['--other-region', 'no'],
].flat()

describe('lab advise', () => {
  it('asks what it was not told, and once more when it does not understand', async () => {
    const answers = ['yes', 'no', 'no', 'no', 'perhaps', 'yes', '', '', '']
    const { stdout, questions, exitCode, stderr } = await atTerminal(['lab', 'advise', '--operation', 'read'], {
      answers,
    })
    assert.equal(exitCode, 0, stderr)
    assert.equal(questions[0], 'is doing it twice the same as doing it once? ')
    assert.equal(questions.length, 9)
    assert.match(stderr, /must be yes or no/)
    assert.match(stdout, /retry\.maxAttempts +5 {2,}enough for a restart/)
    assert.match(stderr, /try {2}secondwind lab advise --operation read --idempotent yes .* --write advised\.json/)
  })

  it('names every flag that is missing where nobody can be asked, and exits with 2', async () => {
    const { stdout, stderr, exitCode } = await secondwind(['lab', 'advise', ...FLAGS.slice(0, 8)])
    assert.deepEqual([stdout, exitCode], ['', 2])
    assert.match(stderr, /^error cannot-ask {2}2 questions have no answer\n/)
    assert.match(stderr, /do {3}add {2}--critical <yes\|no>\n {7}add {2}--other-region <yes\|no>\n/)
  })

  it('names failOver where the dependency is in another region', async () => {
    const flags = FLAGS.map((word, at) => (FLAGS[at - 1] === '--other-region' ? 'yes' : word))
    const { stdout } = await secondwind(['lab', 'advise', ...flags])
    assert.match(stdout, /through\s+failOver\(\{ home, others \}\)/)
  })

  it('asks nothing when the flags say enough', async () => {
    const { questions, stdout } = await atTerminal(['lab', 'advise', ...FLAGS, '--json'])
    assert.deepEqual(questions, [])
    const { policy } = JSON.parse(stdout) as { policy: unknown }
    assert.equal(checkPolicy(policy).problems, undefined)
  })

  it('writes the policy to a new file, and never over another', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'secondwind-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'my payments.json')
    const first = await atTerminal(['lab', 'advise', ...FLAGS, '--name', 'payments', '--write', file])
    assert.match(first.stderr, /wrote .*my payments\.json\n\ntry {2}secondwind lab explain '.*my payments\.json'\n/)
    const written = readFileSync(file, 'utf8')
    assert.equal((JSON.parse(written) as { name: string }).name, 'payments')
    const second = await atTerminal(['lab', 'advise', ...FLAGS, '--write', file])
    assert.equal(second.exitCode, 2)
    assert.match(second.stderr, /^error file-exists .*\n {2}do {3}secondwind .* --write '.*my payments-2\.json'\n$/s)
    assert.equal(readFileSync(file, 'utf8'), written)
  })

  it('names what is wrong together with what is missing where nobody can be asked', async () => {
    const wrong = ['--user-facing', 'maybe', '--latency-budget', '0', '--load', '5']
    const { stderr, exitCode } = await secondwind(['lab', 'advise', ...FLAGS.slice(0, 4), ...wrong])
    assert.equal(exitCode, 2)
    const flags = Array.from(stderr.matchAll(/^ {2}(--\S+) (?:must be|needs|is missing)/gm), ([, flag]) => flag)
    assert.deepEqual(flags, [
      '--user-facing',
      '--latency-budget',
      '--load',
      '--rate-limited',
      '--critical',
      '--other-region',
    ])
  })

  it('asks nothing before it has refused what cannot be read', async () => {
    const { questions, exitCode } = await atTerminal(['lab', 'advise', '--critical', 'maybe'])
    assert.deepEqual([questions, exitCode], [[], 2])
  })

  it('refuses every answer that it cannot read at once', async () => {
    const wrong = [...FLAGS, '--critical', 'maybe', '--latency-budget', 'soon']
    const { stderr, exitCode } = await atTerminal(['lab', 'advise', ...wrong])
    assert.equal(exitCode, 2)
    assert.match(stderr, /--critical must be yes or no \(is "maybe"\)\n {2}--latency-budget must be a duration/)
  })
})
