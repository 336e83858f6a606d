/**
 * What the pages show is what the commands print today. `WRITE_PAGES=1 npx vitest run packages/cli/src/pages.test.ts`
 * writes them anew, pictures included; then look at them.
 */
import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, it, onTestFinished } from 'vitest'
import { atTerminal } from './command-line.test-kit.ts'
import { COMMANDS } from './commands.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const PAGE = join(ROOT, 'docs/lab.md')
const BLOCK = /^```console\n\$ secondwind (?<typed>.*)\n(?<shown>[^`]*)```$/gm
const isWriting = process.env['WRITE_PAGES'] === '1'

/** The words of a line, as a shell would hand them over. */
function wordsOf(line: string): string[] {
  return Array.from(line.matchAll(/'([^']*)'|(\S+)/g), ([, quoted, plain]) => quoted ?? plain!)
}

/** Pictures go to another place, and are compared with those that the page shows. */
async function shown(typed: string): Promise<string> {
  const words = wordsOf(typed)
  const svg = words.find(word => word.endsWith('.svg'))
  const folder = mkdtempSync(join(tmpdir(), 'secondwind-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const drawn = svg && (isWriting ? join(ROOT, svg) : join(folder, basename(svg)))
  const { stdout } = await atTerminal(words.map(word => (word === svg ? drawn! : word)))
  if (svg) assert.equal(readFileSync(drawn!, 'utf8'), readFileSync(join(ROOT, svg), 'utf8'))
  return `\n${stdout}`
}

describe('docs/lab.md', () => {
  const page = readFileSync(PAGE, 'utf8')
  const blocks = Array.from(page.matchAll(BLOCK), ({ groups }) => groups as { typed: string; shown: string })

  it('shows commands', () => {
    assert.ok(blocks.length >= 6)
  })

  for (const { typed, shown: expected } of blocks)
    it(`shows what is printed by secondwind ${typed}`, async () => {
      const printed = await shown(typed)
      if (isWriting) writeFileSync(PAGE, replaced(readFileSync(PAGE, 'utf8'), typed, printed))
      else assert.equal(expected, printed)
    })
})

describe('every line to type in the pages of the command line and of operations', () => {
  const linesOf = (page: string): string[] =>
    Array.from(readFileSync(join(ROOT, page), 'utf8').matchAll(/^ {4}secondwind (?<line>[^#|>\n]+)/gm), ([, line]) =>
      line!.trim(),
    )

  it.each([...linesOf('docs/cli.md'), ...linesOf('docs/operations.md')])(
    'is a command with flags of its own: %s',
    line => {
      const words = wordsOf(line)
      const command = COMMANDS.find(({ path }) => path.every((name, index) => words[index] === name))
      assert.ok(command !== undefined, 'there is no such command')
      const flags = (command.options ?? []).map(({ flag }) => flag.split(' ')[0])
      assert.deepEqual(
        words.filter(word => word.startsWith('--') && word !== '--json' && !flags.includes(word)),
        [],
      )
    },
  )
})

describe('docs/cli.md', () => {
  it('names every command', () => {
    const page = readFileSync(join(ROOT, 'docs/cli.md'), 'utf8')
    const names = COMMANDS.map(({ path }) => path.join(' '))
    assert.deepEqual(
      names.filter(name => !page.includes(`\`${name}\``)),
      [],
    )
  })

  it('explains every code of a failure', () => {
    const page = readFileSync(join(ROOT, 'docs/cli.md'), 'utf8')
    const sources = globSync('packages/cli/src/**/*.ts', { cwd: ROOT }).filter(path => !path.includes('.test'))
    const codes = sources.flatMap(path =>
      Array.from(
        readFileSync(join(ROOT, path), 'utf8').matchAll(/\bcode: (?:isMissing \? '([a-z-]+)' : )?'([a-z-]+)'/g),
        ([, one, other]) => [one, other],
      ).flat(),
    )
    assert.ok(codes.includes('not-found') && codes.includes('invalid-scenario'))
    assert.deepEqual(
      codes.filter(code => code !== undefined && !page.includes(`\`${code}\``)),
      [],
    )
  })
})

function replaced(page: string, typed: string, printed: string): string {
  return page.replace(BLOCK, (block, line: string) =>
    line === typed ? `\`\`\`console\n$ secondwind ${typed}\n${printed}\`\`\`` : block,
  )
}
