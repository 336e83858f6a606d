import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, it } from 'vitest'
import { temporaryDirectory } from '../service.test-kit.ts'

const CHILD = fileURLToPath(new URL('crossing-child.test-kit.ts', import.meta.url))

/** May only go down. One is for the thread that moves the log: on a busy machine it works during each task. */
const MOST_FILES = 80

/** Shorter than the test's own limit, so that a service that hangs is ended. */
const TIMEOUT_MS = 50_000

/** `SHOW_CROSSED=1 npm run unit -- crossing` prints the files. */
const SHOW_CROSSED = process.env['SHOW_CROSSED'] !== undefined

describe('a task, from POST until its settle is written', () => {
  it(`crosses no more than ${MOST_FILES} files of the service`, async () => {
    const flags = ['--conditions=@secondwind/source', CHILD, temporaryDirectory()]
    const { stdout } = await promisify(execFile)(process.execPath, flags, { timeout: TIMEOUT_MS })
    const files = JSON.parse(stdout) as readonly string[]
    const shown = `${files.length} files\n${byRoom(files)}`
    if (SHOW_CROSSED) console.log(shown)
    assert.ok(files.length <= MOST_FILES, shown)
  })
})

function byRoom(files: readonly string[]): string {
  const roomOf = (file: string): string => (file.includes('/') ? file.slice(0, file.indexOf('/') + 1) : './')
  return [...new Set(files.map(roomOf))]
    .map(room => {
      const inRoom = files.filter(file => roomOf(file) === room).map(file => file.replace(room, ''))
      return `${room} ${inRoom.length}: ${inRoom.join(' ')}`
    })
    .join('\n')
}
