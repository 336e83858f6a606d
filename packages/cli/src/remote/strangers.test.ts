import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import { inPipe } from '../command-line.test-kit.ts'
import { COMMANDS } from '../commands.ts'
import { isRemote, placedIn } from './examples.test-kit.ts'
import { anAnswer } from './service.test-kit.ts'

const ANSWERS = ['null', '42', '"hello"', '[]', '{}', '{"status":"ok"}', '{"items":null}', '{"items":[null]}', '<html>']

const ODD = { taskId: 'a', status: 'b', createdAt: 1e308, targetUrl: 1, destination: 2, at: 'c', scope: {}, counts: {} }
const ID_OF = { keyId: 'a', secretId: 'a', controlId: 'a', replayId: 'a', auditId: 'a', causeId: 'a', bodyRef: 'a' }
/** Like what is asked for at a glance. */
const MADE_UP = { ...ODD, ...ID_OF, items: [{ ...ODD, ...ID_OF }], controls: [ODD], slots: [ODD] }

/** A command that gets as far as asking: its own example, and a yes where one is needed. */
const REMOTE = COMMANDS.filter(command => isRemote(command) && command.path[0] !== 'doctor').map(command => {
  const [example = ''] = command.examples
  const hasYes = command.options?.some(({ flag }) => flag === '--yes') ?? false
  return { name: command.path.join(' '), words: [...example.split(' '), ...(hasYes ? ['--yes'] : [])] }
})

describe('a server that is no Secondwind, and says 200, is told as one:', () => {
  it.each(REMOTE)('$name', async ({ words }) => {
    const folder = aFolder()
    for (const answer of ANSWERS) {
      const url = await anAnswer((request, response) => {
        request.resume()
        response.end(answer)
      })
      const { stderr, exitCode } = await inPipe([...words.map(word => placedIn(folder, word)), '--url', url])
      assert.doesNotMatch(stderr, /^error bug/m, answer)
      // Files of an example are not here: what cannot be read is not sent either.
      if (exitCode !== 3 && exitCode !== 2)
        assert.match(stderr, /error unexpected-answer {2}what answers at \S+ is not a Secondwind service/, answer)
    }
  })

  // Whoever watches waits for an end, whatever is said meanwhile.
  const ending = REMOTE.filter(({ name }) => name !== 'tasks watch')

  it.each(ending)('$name, where it has the fields of one', async ({ words }) => {
    const url = await anAnswer((request, response) => {
      request.resume()
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(MADE_UP))
    })
    const folder = aFolder()
    const { stderr } = await inPipe([...words.map(word => placedIn(folder, word)), '--url', url])
    assert.doesNotMatch(stderr, /^error bug/m)
    assert.deepEqual(readdirSync(folder), [], 'it made up no secret')
  })

  it('a list without end', async () => {
    const url = await anAnswer((_, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ items: [{ keyId: 'a', scopes: [], createdAt: 1 }], nextCursor: 'same' }))
    })
    const { stderr } = await inPipe(['keys', 'list', '--limit', '10000', '--url', url])
    assert.doesNotMatch(stderr, /^error bug/m)
  })

  it('a task that was handed over: nobody knows whether it was taken', async () => {
    const url = await anAnswer((request, response) => {
      request.resume()
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(MADE_UP))
    })
    const { stderr } = await inPipe(['tasks', 'submit', 'https://api.example/', '--url', url])
    assert.match(stderr, /^error unexpected-answer {2}what http:\S+ answers cannot be read/m)
    assert.match(stderr, /Whether it was done nobody knows/)
  })

  it('doctor', async () => {
    for (const answer of ANSWERS) {
      const url = await anAnswer((_, response) => response.end(answer))
      const { stdout, stderr } = await inPipe(['doctor', '--url', url])
      assert.doesNotMatch(stderr, /^error bug/m, answer)
      assert.match(stdout, /^bad\t.*is not a Secondwind service/m, stdout)
    }
  })
})

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'secondwind-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}
