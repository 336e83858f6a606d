import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, it, onTestFinished } from 'vitest'
import { atTerminal, inPipe, secondwind } from './command-line.test-kit.ts'
import type { Command } from './command.ts'
import { COMMANDS } from './commands.ts'
import { isRemote } from './remote/examples.test-kit.ts'
import { runProgram } from './program.ts'
import type { Terminal } from './terminal/terminal.ts'

describe('the program', () => {
  it('prints its help and its version on stdout', async () => {
    const help = await secondwind(['--help'])
    assert.match(help.stdout, /^Usage: secondwind/)
    assert.deepEqual([help.stderr, help.exitCode], ['', 0])
    assert.match((await secondwind(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/)
  })

  it('takes help and version as words, too, and -V', async () => {
    const answered = async (...words: readonly string[]): Promise<string> => {
      const { stdout, stderr, exitCode } = await atTerminal(words)
      assert.deepEqual([stderr, exitCode], ['', 0], words.join(' '))
      return stdout
    }
    assert.equal(await answered('help'), await answered('--help'))
    assert.equal(await answered('help', 'lab'), await answered('lab', '--help'))
    assert.equal(await answered('help', 'lab', 'run'), await answered('lab', 'run', '--help'))
    assert.equal(await answered('lab', 'help', 'run'), await answered('lab', 'run', '--help'))
    assert.equal(await answered('version'), await answered('--version'))
    assert.equal(await answered('-V'), await answered('--version'))
    const { version } = JSON.parse(await answered('version', '--json')) as { version: string }
    assert.equal(`${version}\n`, await answered('version'))
    assert.equal(await answered('--version', '--json'), await answered('version', '--json'))
    const unknown = await atTerminal(['help', 'lob'])
    assert.match(unknown.stderr, /^error unknown-command .*'lob'/)
    assert.equal(unknown.exitCode, 2)
  })

  it('says how to build it where that has not been done, as in a fresh clone', () => {
    const clone = mkdtempSync(join(tmpdir(), 'secondwind-'))
    onTestFinished(() => rmSync(clone, { recursive: true }))
    // Below a package.json that makes modules of its files, as in a clone.
    writeFileSync(join(clone, 'package.json'), '{"type":"module"}')
    cpSync(fileURLToPath(new URL('../bin', import.meta.url)), join(clone, 'bin'), { recursive: true })
    const { status, stderr } = spawnSync(process.execPath, [join(clone, 'bin/secondwind.js')], { encoding: 'utf8' })
    assert.match(stderr, /^error not-built .*\n\n {2}do {3}npm run build\n$/)
    assert.equal(status, 1)
  })

  it('says where a Node that is new enough can be found, to whoever starts it with an old one', () => {
    const anOldNode = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"20.19.0"}})'
    const program = fileURLToPath(new URL('../bin/secondwind.js', import.meta.url))
    const { status, stderr } = spawnSync(process.execPath, ['--import', anOldNode, program], { encoding: 'utf8' })
    assert.match(stderr, /^error node-too-old .* this is 20\.19\.0\n/)
    assert.match(stderr, /\n {2}do {3}node_modules\/\.bin\/node node_modules\/\.bin\/secondwind /)
    assert.equal(status, 1)
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
    assert.deepEqual([error.code, error.next], ['missing-argument', ['secondwind lab tiers --help']])
  })

  it('repeats no key, no signing secret and no password that was typed where none belongs', async () => {
    const secrets = [`swk_0123456789abcdef_${'s3cr3t-'.repeat(6)}a`, `whsec_${'s3cr3t+'.repeat(6)}a=`]
    for (const secret of [...secrets, 'https://user:s3cr3t@api.example'])
      for (const words of [['keys', 'list', secret], ['keys', secret], [secret], ['series', `--${secret}`]])
        for (const json of [[], ['--json']]) {
          const { stdout, stderr, exitCode } = await atTerminal([...words, ...json])
          assert.equal(exitCode, 2, stderr)
          assert.match(stderr, /\[redacted\]/)
          assert.ok(!`${stdout}${stderr}`.includes('s3cr3t'), stderr)
          if (json.length > 0) assert.ok(JSON.parse(stderr))
        }
  })

  it('proposes a command that needs no noun to whoever has typed one before it', async () => {
    const { stderr, exitCode } = await atTerminal(['destinations', 'pause', 'https://a.test', '--for', '30min'])
    assert.match(stderr, /^error unknown-command .*\n\n {2}pause is a command of its own\.\n/)
    assert.match(stderr, /\n {2}do {3}secondwind pause https:\/\/a\.test --for 30min\n/)
    assert.equal(exitCode, 2)
  })

  it('leads whoever mistyped to the help of what was called', async () => {
    const helpAfter = async (...words: string[]): Promise<string | undefined> =>
      /do {3}(.*)\n$/.exec((await atTerminal(words)).stderr)?.[1]
    assert.equal(await helpAfter('lab', 'run', '--sede', '1'), 'secondwind lab run --help')
    assert.equal(await helpAfter('lab', 'rnu'), 'secondwind lab --help')
    assert.equal(await helpAfter('lob'), 'secondwind --help')
  })

  it('tells a bug of its own in the same four parts, with its place, and exits with 1', async () => {
    const broken: Command = {
      path: ['broken'],
      summary: '',
      examples: [],
      run: () => {
        throw new RangeError('no such thing')
      },
    }
    const told: string[] = []
    const screen = { isTerminal: true, columns: 80, rows: 24, hasColors: false, isAscii: false }
    const terminal: Terminal = {
      write: () => assert.fail('no answer'),
      writeBytes: () => assert.fail('no answer'),
      writeOrLose: () => assert.fail('no answer'),
      tell: text => void told.push(text),
      out: screen,
      err: screen,
      readInput: () => Promise.resolve(Buffer.from('')),
    }
    assert.equal(await runProgram(['broken'], [broken], terminal), 1)
    assert.match(told.join(''), /^error bug {2}RangeError: no such thing\n\n {2}at .*program\.test\.ts/)
  })

  it.runIf(existsSync('/dev/full'))('says that its output could not be written, and exits with 1', async () => {
    const { stderr, exitCode } = await secondwind(['lab', 'explain', 'userFacing'], { outputTo: '/dev/full' })
    assert.match(stderr, /error not-writable {2}stdout cannot be written\n\n {2}ENOSPC/)
    assert.equal(exitCode, 1)
  })

  it.runIf(existsSync('/dev/full'))('gives its answer even if a file beside it cannot be written', async () => {
    const { stdout, stderr, exitCode } = await atTerminal(['lab', 'tiers', 'a=2', 'b=2', '--svg', '/dev/full'])
    assert.match(stdout, /One operation becomes/)
    assert.match(stderr, /^error not-writable {2}\/dev\/full/)
    assert.equal(exitCode, 1)
  })

  it('refuses a file that could not be written before anything is run, with all else that is wrong', async () => {
    const words = ['lab', 'tiers', 'a=2', '--failure', '2', '--svg', join(tmpdir(), 'nowhere', 'a.svg')]
    const { stdout, stderr, exitCode } = await atTerminal(words)
    assert.deepEqual([stdout, exitCode], ['', 2])
    assert.match(stderr, /--failure must be .*\n {2}--svg must be a file that can be written: ENOENT/)
  })

  it('keeps to plain characters with --ascii, and where a terminal knows no others', async () => {
    const strange = /[^\n\u0020-\u007E]/
    for (const words of [
      ['lab', 'run'],
      ['lab', 'explain', 'userFacing'],
      ['lab', 'tiers', 'a=2', 'b=2'],
    ]) {
      const asked = await atTerminal([...words, '--ascii'])
      assert.doesNotMatch(asked.stdout + asked.stderr, strange)
    }
    const { stdout, stderr } = await atTerminal(['lab', 'reproduce', 'jitter-order'], { isAscii: true })
    assert.doesNotMatch(stdout + stderr, strange)
    assert.match(stdout, /full <= equal/)
  })

  it('takes --ascii wherever it takes --no-color', async () => {
    for (const { path } of COMMANDS) {
      const { stdout } = await atTerminal([...path, '--help'])
      assert.match(stdout, /--no-color [^]*--ascii /, path.join(' '))
    }
  })

  it('has the verdict as a sentence in every document that has one', async () => {
    const small = ['--load', '20/s', '--capacity', '50/s', '--outage', '2s']
    const calls = [
      ['run', ...small],
      ['compare', 'userFacing', 'stripe', ...small],
      ['sweep', '--vary', 'policy.maxAttempts=1,2', ...small],
      ['assert', 'userFacing', '--max-peak', '9x', ...small],
      ['tiers', 'a=2', 'b=2'],
      ['reproduce', 'jitter-order'],
      ['cases', 'queued-herd', '--scale', '0.01'],
    ]
    for (const words of calls) {
      const { stdout, stderr } = await atTerminal(['lab', ...words, '--json'])
      const { verdict } = JSON.parse(stdout) as { verdict: unknown }
      assert.ok(typeof verdict === 'string' && verdict.endsWith('.'), `${words[0]}: ${String(verdict)} ${stderr}`)
    }
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

  const examples = COMMANDS.filter(command => !isRemote(command))
    .flatMap(command => command.examples)
    // What takes long or never ends, what asks, what needs data or writes over a file, and what a shell would have to redirect.
    .filter(example => !/^(?:serve|dev|backup)\b|reproduce|cases shop|--runs|advise|>/.test(example))
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
    assert.deepEqual(await words('l'), ['lab'])
    assert.deepEqual(await words('lab', 'ex'), ['explain'])
    assert.deepEqual(await words('lab', 'tiers', '--f'), ['--failure'])
    assert.deepEqual(await words('backup', 'c'), ['check'])
    assert.deepEqual(await words('backup', 'check', '--'), ['--json', '--no-color', '--ascii'])
  })

  it('offers the names that an argument may have', async () => {
    assert.deepEqual(await words('lab', 'run', 'out'), ['outage'])
    assert.deepEqual(await words('lab', 'explain', 'use'), ['userFacing'])
    assert.deepEqual(await words('lab', 'reproduce', 'hedging', 'tail'), ['tail-at-scale'])
    assert.deepEqual(await words('completion', 'f'), ['fish'])
  })

  it('offers what stands before any command, and what an option may be, its names that are followed by one, too', async () => {
    assert.deepEqual(await words('--'), ['--help', '--version'])
    assert.deepEqual(await words('kill', 'on', '--scope', ''), ['all', 'destination=', 'policy=', 'tenant='])
  })

  it('offers nothing after words that no command begins with', async () => {
    assert.deepEqual(await words('lap', ''), [''])
  })

  it('has a script for each shell, which asks the program itself', async () => {
    for (const shell of ['bash', 'zsh', 'fish'])
      assert.match((await atTerminal(['completion', shell])).stdout, /secondwind completion words --/)
    const { stderr, exitCode } = await atTerminal(['completion', 'tcsh'])
    assert.equal(exitCode, 2)
    assert.match(stderr, /^error wrong-option {2}<shell> cannot be read\n\n.* must be one of bash, zsh, fish \(/)
  })
})

describe('a line that cannot be read', () => {
  it('for want of a word is told which one must be given', async () => {
    assert.match((await inPipe(['tasks', 'get'])).stderr, /^error missing-argument {2}<taskId> must be given\n/)
  })

  it.each([
    [['tasks', 'list', 'twice'], 'excess-arguments', 'There are more words than it takes'],
    [['tasks', 'list', '--stats'], 'unknown-option', 'Did you mean --status?'],
    [['tasks', 'list', '--zzz'], 'unknown-option', 'It has no such option.'],
    [['kill', 'on', '--destination', 'https://a.test'], 'unknown-option', 'Did you mean --scope destination=https://a'],
    [['kill', 'on', '--policy=pay'], 'unknown-option', 'Did you mean --scope policy=pay?'],
    [['kill', 'on', '--level', 'retires-off'], 'wrong-option', '; did you mean retries-off? (is "retires-off")'],
    [['kill', 'on', '--level', 'retry-off'], 'wrong-option', '; did you mean retries-off? (is "retry-off")'],
    [['keys', 'create', '--scope', 'raed'], 'wrong-option', '; did you mean read? (is "raed")'],
    [
      ['tasks', 'get'],
      'missing-argument',
      '<taskId> is the id of a task, such as 01a1e2a2-09b8-7b02-87fa-57f25d3342be.',
    ],
    [['lab', 'tiers'], 'missing-argument', '<tier...> is each tier from the edge down'],
    [['tasks', 'list', '--status'], 'option-missing-argument', 'The option says nothing without its value.'],
  ])('is told what is wrong with it, and what to type: %s', async (words, code, because) => {
    const { stderr, exitCode } = await inPipe(words)
    assert.equal(exitCode, 2)
    assert.ok(stderr.startsWith(`error ${code}  `), stderr)
    assert.ok(stderr.includes(because), stderr)
    assert.match(
      stderr,
      /\n {2}do {3}secondwind (?:[^]*\n {7}secondwind )?(?:tasks|lab|kill|keys) (?:list|get|tiers|on|create) --help\n$/,
    )
  })
})
