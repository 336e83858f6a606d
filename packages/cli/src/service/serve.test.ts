import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '@secondwind/resilience/testing'
import { describe, it, onTestFinished, vi } from 'vitest'
import { secondwind } from '../command-line.test-kit.ts'
import { startProgram, temporaryDirectory, type RunningProgram } from './serve.test-kit.ts'

// Processes, sockets and disks take as long as the machine lets them.
vi.setConfig({ testTimeout: 180_000 })

/** A target that counts how often each key arrived. */
async function aLedger(): Promise<{ url: string; arrivals: Map<string, number> }> {
  const arrivals = new Map<string, number>()
  const server = createServer((request, response) => {
    const key = String(request.headers['idempotency-key'])
    request.resume().on('end', () => {
      arrivals.set(key, (arrivals.get(key) ?? 0) + 1)
      response.end('{}')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, arrivals }
}

interface Shown {
  readonly taskId: string
  readonly status: string
  readonly attemptNumber: number
}

async function post(url: string, body: object): Promise<Shown | undefined> {
  try {
    const response = await fetch(`${url}/retry-tasks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const task = (await response.json()) as Shown
    return response.status === 201 || response.status === 200 ? task : undefined
  } catch {
    return undefined
  }
}

const read = async (url: string, taskId: string): Promise<Shown> =>
  (await (await fetch(`${url}/retry-tasks/${taskId}`)).json()) as Shown

/** Attempts that fail are in the log; once two of them are lost that must have been said once. */
async function lostLines(program: RunningProgram, warning: RegExp): Promise<void> {
  const { url } = program
  for (let lost = 0; lost < 2; await sleep(20)) {
    await post(url, { targetUrl: `${url}/_flaky/400x1`, method: 'POST', policy: { maxAttempts: 1 } })
    const metrics = await (await fetch(`${url}/metrics`)).text()
    lost = Number(/^retry_log_lines_lost_total (\d+)$/m.exec(metrics)![1])
  }
  assert.equal(program.said().match(warning)?.length, 1, program.said())
}

describe('secondwind dev', () => {
  it('proposes what can be typed in a clone, where npm has started it', async () => {
    const words = ['dev', '--port', '0', '--data', temporaryDirectory()]
    const { introduction } = await startProgram(words, { env: { npm_lifecycle_event: 'start' } })
    assert.match(introduction, /^ {2}Watch {6}npx secondwind tasks watch --url /m)
  })

  it('says where it listens, where the data is, and a curl line that works as it stands', async () => {
    const data = temporaryDirectory()
    const { url, introduction } = await startProgram(['dev', '--port', '0', '--data', data])
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
    assert.ok(introduction.includes(data))
    assert.match(introduction, new RegExp(`^ {2}Watch {6}secondwind tasks watch --url ${url}$`, 'm'))
    const line = introduction.slice(introduction.indexOf('curl ')).trim()
    const task = JSON.parse(
      execFileSync('sh', ['-c', line.replace('curl ', 'curl -s ')], { encoding: 'utf8' }),
    ) as Shown
    let shown = task
    while (shown.status !== 'SUCCEEDED') {
      await sleep(50)
      shown = await read(url, task.taskId)
    }
    assert.equal(shown.attemptNumber, 3)
  })

  it('prints a line for each attempt, and for what is done to a task', async () => {
    const program = await startProgram(['dev', '--port', '0', '--data', temporaryDirectory()])
    const lineOf = async (line: RegExp): Promise<void> => {
      while (!line.test(program.printed())) await sleep(20)
    }
    const act = (method: string, path: string): Promise<Response> =>
      fetch(`${program.url}/retry-tasks/${path}`, { method })
    const target = `${program.url}/_flaky/400x2`
    const { taskId: dead } = (await post(program.url, { targetUrl: target, method: 'POST', delayMs: 600_000 }))!
    await act('POST', `${dead}/attempt-now`)
    await lineOf(new RegExp(`^now +${dead}  its next attempt is due at once\n(.*\n)*end +${dead}  EXHAUSTED`, 'm'))
    await act('POST', `${dead}/replay`)
    await lineOf(new RegExp(`^replay  ${dead}  attempts from 0, time from now\n(.*\n)*failed  ${dead}`, 'm'))
    const { taskId: waiting } = (await post(program.url, { targetUrl: target, method: 'POST', delayMs: 600_000 }))!
    await act('DELETE', waiting)
    await lineOf(new RegExp(`^cancel  ${waiting}  CANCELLED$`, 'm'))
    assert.equal(program.printed().match(/^(?:now|replay|cancel) /gm)?.length, 3, 'a line each')
  })

  it('ends with 0 when it is asked to, and says so', async () => {
    const program = await startProgram(['dev', '--port', '0', '--data', temporaryDirectory()])
    program.kill('SIGTERM')
    assert.equal(await program.exitCode, 0)
    assert.match(program.said(), /SIGTERM: no new attempts.*\nstopped; nothing is lost\n$/s)
  })
})

describe('secondwind serve', () => {
  it('refuses a directory that another process serves, and says so', async () => {
    const data = temporaryDirectory()
    await startProgram(['serve', '--port', '0', '--data', data])
    const { exitCode, stderr, stdout } = await secondwind(['serve', '--port', '0', '--data', data])
    assert.equal(exitCode, 1)
    assert.equal(stdout, '')
    assert.match(stderr, /^error store-in-use {2}the store in .* cannot be opened/)
    assert.match(stderr, /is in use by process \d+; stop that one/)
    assert.match(stderr, new RegExp(`do .*secondwind doctor --port 0 --data ${data}\n`))
  })

  it('refuses a port that is taken, and proposes to look who has it: a copy of its data must not be served beside it', async () => {
    const { url } = await startProgram(['serve', '--port', '0', '--data', temporaryDirectory()])
    const { port } = new URL(url)
    const copy = temporaryDirectory()
    const { exitCode, stderr } = await secondwind(['serve', '--port', port, '--data', copy])
    assert.equal(exitCode, 1)
    assert.match(stderr, /^error port-taken/)
    assert.match(stderr, new RegExp(`do .*secondwind doctor --port ${port} --data ${copy}\n$`))
    const trial = await secondwind(['dev', '--port', port])
    const again = 'secondwind dev --data secondwind-trial --port 0'
    assert.match(trial.stderr, new RegExp(`do .*secondwind doctor --port ${port}\n.*${again}\n$`))
    const { stderr: inMemory } = await secondwind(['dev', '--port', port, '--store', 'memory'])
    assert.match(inMemory, / secondwind dev --store memory --port 0\n$/)
  })

  it('refuses an address that is not of this machine, and keeps all else that was typed', async () => {
    const data = temporaryDirectory()
    const key = join(data, 'admin.key')
    writeFileSync(key, 'k'.repeat(64), { mode: 0o600 })
    const words = ['serve', '--host', '192.0.2.1', '--port', '0', '--data', data, '--admin-key-file', key]
    const { exitCode, stderr } = await secondwind(words)
    assert.equal(exitCode, 1)
    assert.match(stderr, /^error cannot-listen {2}192\.0\.2\.1:0 cannot be listened on/)
    assert.match(
      stderr,
      new RegExp(`do .*secondwind serve --port 0 --data ${data} --admin-key-file ${key} --host 127\\.0\\.0\\.1\n`),
    )
  })

  it('refuses to be reached from elsewhere without keys, and keeps all else that was typed', async () => {
    const data = temporaryDirectory()
    const { exitCode, stderr } = await secondwind(['serve', '--host', '0.0.0.0', '--port', '0', '--data', data])
    assert.equal(exitCode, 2)
    assert.match(stderr, /^error no-keys[^]* > admin\.key && chmod 600 admin\.key\n/)
    assert.match(
      stderr,
      new RegExp(`\n {7}secondwind serve --host 0\\.0\\.0\\.0 --port 0 --data ${data} --admin-key-file admin\\.key\n`),
    )
  })

  it('says that other machines can reach it', async () => {
    const data = temporaryDirectory()
    const key = join(data, 'admin.key')
    writeFileSync(key, 'k'.repeat(64))
    const words = ['serve', '--host', '0.0.0.0', '--port', '0', '--data', data, '--admin-key-file', key]
    const { introduction } = await startProgram(words)
    assert.match(introduction, /^ {2}Open {7}to other machines: it listens on 0\.0\.0\.0, without TLS\n/m)
  })

  it('ends with 0 though nobody listens to what it says on stderr any more', async () => {
    const program = await startProgram(['serve', '--port', '0', '--data', temporaryDirectory()])
    program.closeStderr()
    program.kill('SIGTERM')
    assert.equal(await program.exitCode, 0)
  })

  const aFullDisk = { outputTo: '/dev/full' }
  it.runIf(existsSync('/dev/full')).each(['serve', 'dev'])(
    'goes on when the disk of its log is full: %s',
    async name => {
      const program = await startProgram([name, '--port', '0', '--data', temporaryDirectory()], aFullDisk)
      await lostLines(program, /stdout cannot be written \(.*ENOSPC.*\); the service goes on/g)
      program.kill('SIGTERM')
      assert.equal(await program.exitCode, 0)
    },
  )

  it.each(['serve', 'dev'])('goes on when nobody reads its log any more: %s', async name => {
    const program = await startProgram([name, '--port', '0', '--data', temporaryDirectory()])
    program.closeStdout()
    await lostLines(program, /nobody reads stdout any more; the service goes on without its log/g)
    program.kill('SIGTERM')
    assert.equal(await program.exitCode, 0)
  })

  it('refuses a file that is no database of its own, and leaves it as it is', async () => {
    const data = temporaryDirectory()
    writeFileSync(join(data, 'tasks.db'), 'my diary, which is no database at all\n'.repeat(200))
    const { exitCode, stderr } = await secondwind(['serve', '--port', '0', '--data', data])
    assert.equal(exitCode, 1)
    assert.match(stderr, /^error store-corrupt/)
  })

  it('says everything that is wrong with its settings at once, and starts nothing', async () => {
    const { exitCode, stderr } = await secondwind(['serve', '--port', 'x', '--host', 'a b', '--concurrency', '0'])
    assert.equal(exitCode, 2)
    for (const flag of ['--port', '--host', '--concurrency']) assert.ok(stderr.includes(flag), flag)
  })

  it('says of unknown flags what was meant, together with every other problem of flags, environment and file', async () => {
    const file = join(temporaryDirectory(), 'secondwind.json')
    writeFileSync(file, '{ "dat": "./data" }')
    const words = ['serve', '--prot', '80', '--hots=127.0.0.1', '--port', 'x', 'again', '--config', file, '-z']
    const { exitCode, stderr } = await secondwind(words, { env: { SECONDWIND_CONCURRENCY: '0' } })
    assert.equal(exitCode, 2)
    for (const said of [
      '--prot is an unknown flag; did you mean --port?',
      '--hots is an unknown flag; did you mean --host?',
      '-z is an unknown flag',
      'again is a word too many',
      '--port must be a whole number',
      'SECONDWIND_CONCURRENCY must be',
      'dat is an unknown field; did you mean data?',
    ])
      assert.ok(stderr.includes(said), `${said} is missing in:\n${stderr}`)
  })

  it('loses nothing that it answered with 201, however often it is killed, and shows one ending for each', async () => {
    const seed = 20_261_116
    const random = seededRandom(seed)
    const ledger = await aLedger()
    const words = ['dev', '--port', '0', '--data', temporaryDirectory(), '--concurrency', '20']
    const accepted = new Map<string, string>()
    let next = 0
    for (let round = 0; round < 4; round++) {
      const program = await startProgram(words)
      const stopAt = 100 + Math.floor(random() * 400)
      const callers = Array.from({ length: 10 }, async () => {
        for (;;) {
          const idempotencyKey = `order-${next++}`
          const task = await post(program.url, { targetUrl: `${ledger.url}/charge`, method: 'POST', idempotencyKey })
          if (task === undefined) return
          accepted.set(idempotencyKey, task.taskId)
        }
      })
      await sleep(stopAt)
      program.kill('SIGKILL')
      await Promise.all([program.exitCode, ...callers])
    }
    assert.ok(accepted.size > 20, `only ${accepted.size} accepted`)

    const program = await startProgram(words)
    let repeated = 0
    for (const [key, taskId] of accepted) {
      let task = await read(program.url, taskId)
      while (task.status === 'PENDING' || task.status === 'IN_FLIGHT') {
        await sleep(20)
        task = await read(program.url, taskId)
      }
      assert.equal(task.status, 'SUCCEEDED', key)
      const arrivals = ledger.arrivals.get(key) ?? 0
      assert.ok(arrivals >= 1, `${key} never arrived (seed ${seed})`)
      // Whatever arrived was counted: a crash in between is an attempt that was lost, not one that never was.
      assert.ok(arrivals <= task.attemptNumber, `${key} arrived ${arrivals} times in ${task.attemptNumber} attempts`)
      repeated += arrivals - 1
    }
    // At most what was in flight at each of the four kills.
    assert.ok(repeated <= 4 * 20, `${repeated} were repeated`)
  })
})
