import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, it, onTestFinished, vi } from 'vitest'
import { readPage } from './pages.ts'

// A process takes as long as the machine lets it.
vi.setConfig({ testTimeout: 60_000 })

const CLONE = '/opt/secondwind'
const unit = /^```ini\n(?<unit>.*?)^```$/ms.exec(readPage('docs/operations.md'))!.groups!['unit']!

/** A folder as `npm ci && npm run build` leaves it, as far as the unit names it; what would be built is the source. */
function aClone(): string {
  const clone = mkdtempSync(join(tmpdir(), 'secondwind-clone-'))
  onTestFinished(() => rmSync(clone, { recursive: true, force: true }))
  const [bin, program] = [join(clone, 'node_modules/.bin'), join(clone, 'node_modules/secondwind')]
  for (const folder of [bin, join(program, 'dist')]) mkdirSync(folder, { recursive: true })
  symlinkSync(process.execPath, join(bin, 'node'))
  symlinkSync('../secondwind/bin/secondwind.js', join(bin, 'secondwind'))
  cpSync('packages/cli/bin', join(program, 'bin'), { recursive: true })
  writeFileSync(join(program, 'package.json'), '{"type":"module"}')
  writeFileSync(join(program, 'dist/main.js'), `import '${pathToFileURL(resolve('packages/cli/src/main.ts')).href}'`)
  return clone
}

describe('the unit for systemd', () => {
  it('starts one process, which a signal to its own pid stops in order', async () => {
    const clone = aClone()
    const line = /^ExecStart=(.*)$/m.exec(unit)![1]!
    const [node, ...words] = line
      .replaceAll(CLONE, clone)
      .replace('/var/lib/secondwind', join(clone, 'data'))
      .split(' ')
    const service = spawn(node!, [...words, '--port', '0'], {
      env: { ...process.env, NODE_OPTIONS: '--conditions=@secondwind/source' },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    onTestFinished(() => void service.kill('SIGKILL'))
    const ended = once(service, 'close')
    let said = ''
    service.stderr.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
    await vi.waitFor(() => assert.match(said, /API {2,}http/), 30_000)
    process.kill(service.pid!, 'SIGTERM')
    assert.deepEqual(await ended, [0, null])
    assert.ok(existsSync(join(clone, 'data/tasks.db')))
  })

  it('is one that systemd reads without a word', ({ skip }) => {
    if (spawnSync('systemd-analyze', ['--version']).status !== 0) skip('no systemd on this machine')
    const clone = aClone()
    const path = join(clone, 'secondwind.service')
    // Whoever makes the user of the unit has rights that a test has not.
    writeFileSync(path, unit.replaceAll(CLONE, clone).replace(/^User=.*\n/m, ''))
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' })
    assert.deepEqual([status, stderr], [0, ''])
  })

  it('leaves little to whoever breaks in', ({ skip }) => {
    if (spawnSync('systemd-analyze', ['--version']).status !== 0) skip('no systemd on this machine')
    const path = join(aClone(), 'secondwind.service')
    writeFileSync(path, unit)
    const words = ['security', '--offline=yes', '--threshold=25', path]
    const { status, stdout } = spawnSync('systemd-analyze', words, { encoding: 'utf8' })
    assert.equal(status, 0, stdout)
  })
})
