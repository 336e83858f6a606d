import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, it } from 'vitest'
import { atTerminal, secondwind } from './command-line.test-kit.ts'
import { COMMANDS } from './commands.ts'

describe('the program', () => {
  it('prints its help and its version on stdout', async () => {
    const help = await secondwind(['--help'])
    assert.match(help.stdout, /^Usage: secondwind/)
    assert.deepEqual([help.stderr, help.exitCode], ['', 0])
    assert.match((await secondwind(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/)
  })

  it('answers a noun without a verb with its verbs, on stderr, and exits with 2', async () => {
    const { stdout, stderr, exitCode } = await secondwind(['lab'])
    assert.deepEqual([stdout, exitCode], ['', 2])
    assert.match(stderr, /explain .*\n/)
  })

  it('guesses what a misspelt command and a misspelt option were meant to be', async () => {
    const command = await secondwind(['lab', 'explian', 'userFacing'])
    assert.deepEqual([command.stdout, command.exitCode], ['', 2])
    assert.match(
      command.stderr,
      /^error unknown-command .*\n\n {2}Did you mean explain\?\n {2}Nothing was run\.\n {2}do /,
    )
    const option = await secondwind(['lab', 'explain', 'userFacing', '--strct'])
    assert.match(option.stderr, /^error unknown-option .*\n\n {2}Did you mean --strict\?/)
    assert.equal(option.exitCode, 2)
  })

  it('writes a failure as one line of JSON to stderr with --json, and nothing to stdout', async () => {
    const { stdout, stderr, exitCode } = await secondwind(['lab', 'tiers', '--json'])
    assert.deepEqual([stdout, exitCode], ['', 2])
    const { error } = JSON.parse(stderr) as { error: { code: string; next: string[] } }
    assert.deepEqual([error.code, error.next], ['missing-argument', ['secondwind --help']])
  })

  it('ends well when its reader has seen enough', async () => {
    const { stderr, exitCode } = await secondwind(['lab', 'explain', 'userFacing', '--json'], { isHeard: false })
    assert.deepEqual([stderr, exitCode], ['', 0])
  })

  it('has no colours in a pipe, unless they are forced', async () => {
    const words = ['lab', 'explain', 'userFacing']
    const isPainted = ({ stdout }: { stdout: string }): boolean => stdout.includes('\u001B')
    assert.ok(!isPainted(await secondwind(words)))
    assert.ok(isPainted(await secondwind(words, { env: { FORCE_COLOR: '1' } })))
    assert.ok(!isPainted(await secondwind([...words, '--no-color'], { env: { FORCE_COLOR: '1' } })))
    assert.ok(isPainted(await atTerminal(words, { hasColors: true })))
  })

  for (const { path, examples } of COMMANDS)
    it(`shows the examples of ${path.join(' ')} in its help`, async () => {
      const { stdout, exitCode } = await atTerminal([...path, '--help'])
      for (const example of examples) assert.ok(stdout.includes(`$ secondwind ${example}`))
      assert.equal(exitCode, 0)
    })
})

describe('every example of the help', () => {
  const folder = mkdtempSync(join(tmpdir(), 'secondwind-'))
  const file = join(folder, 'payments.json')
  writeFileSync(file, '{"name":"payments","retry":{"maxAttempts":4},"breaker":{}}')
  afterAll(() => rmSync(folder, { recursive: true }))

  const examples = COMMANDS.flatMap(command => command.examples)
    // What takes long, what asks, what is written over a file, and what a shell would have to redirect.
    .filter(example => !/reproduce|cases shop|--runs|advise|>/.test(example))
  for (const example of examples)
    it(`works when pasted: ${example}`, async () => {
      const words = example.split(' ').map(word => (word === 'payments.json' ? file : word))
      const { stderr, exitCode } = await atTerminal(words)
      // An assertion or a checklist may say no.
      assert.ok(exitCode === 0 || exitCode === 6, stderr)
    })
})

describe('completion', () => {
  const words = async (...typed: string[]): Promise<string[]> =>
    (await atTerminal(['completion', 'words', '--', ...typed])).stdout.trimEnd().split('\n')

  it('offers nouns, then verbs, then options', async () => {
    assert.deepEqual(await words(''), ['lab', 'completion'])
    assert.deepEqual(await words('lab', 'ex'), ['explain'])
    assert.deepEqual(await words('lab', 'tiers', '--f'), ['--failure'])
  })

  it('offers nothing after words that no command begins with', async () => {
    assert.deepEqual(await words('lap', ''), [''])
  })

  it('has a script for each shell, which asks the program itself', async () => {
    for (const shell of ['bash', 'zsh', 'fish'])
      assert.match((await atTerminal(['completion', shell])).stdout, /secondwind completion words --/)
    assert.equal((await atTerminal(['completion', 'tcsh'])).exitCode, 2)
  })
})
