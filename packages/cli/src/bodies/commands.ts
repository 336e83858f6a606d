/** Large bodies: uploaded once, and named by any number of tasks. */
import { ServiceError } from '@secondwind/client'
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { Command } from '../command.ts'
import { usageFailure } from '../failure.ts'
import { readBytes } from '../input/read-bytes.ts'
import { optional, readOptions, text } from '../input/read-options.ts'
import { sayBytes } from '../output/say-bytes.ts'
import { outputPath } from '../output/output-file.ts'
import { remoteCommand } from '../remote/remote-command.ts'

const putCommand: Command = remoteCommand({
  path: ['bodies', 'put'],
  summary: 'uploads a body, and says what tasks call it; the same bytes again are the same body',
  arguments: [{ usage: '<file>', say: 'the file whose bytes it has; - for those of stdin' }],
  options: [
    { flag: '--content-type <type>', say: 'sent where a task gives none of its own (application/octet-stream)' },
  ],
  examples: ['bodies put order.json --content-type application/json'],
  isChange: true,
  run: async ({ client, args, options, terminal, typed }) => {
    const { contentType } = readOptions(options, { contentType: optional(text()) })
    const bytes = await readBytes(args[0] as string, terminal)
    const body = await client.bodies.upload(bytes, contentType === undefined ? {} : { contentType })
    return {
      data: body,
      show: () => body.bodyRef,
      word: body.bodyRef,
      verdict: `${sayBytes(body.sizeBytes)} of ${body.contentType}; without a task that names them they are gone after a day.`,
      next: [typed('tasks', 'submit', 'https://api.example/charge', '--body-ref', body.bodyRef)],
    }
  },
})

const getCommand: Command = remoteCommand({
  path: ['bodies', 'get'],
  summary: 'a body as it was uploaded: its bytes into a file or a pipe, or shown where it is text',
  arguments: [
    { usage: '<bodyRef>', say: 'the name of a body, sha256- and 64 digits, as bodies put or tasks get has it' },
  ],
  options: [{ flag: '--write <file>', say: 'write its bytes there, as they are; a new file is for you alone' }],
  examples: [`bodies get sha256-${'0123456789abcdef'.repeat(4)} --write order.json`],
  run: async ({ client, args, options, terminal, typed }) => {
    const { write } = readOptions(options, { write: outputPath })
    const bodyRef = args[0] as string
    const bytes = Buffer.from(await client.bodies.get(bodyRef))
    // Its name is its hash: whatever else came is not what was uploaded.
    if (`sha256-${createHash('sha256').update(bytes).digest('hex')}` !== bodyRef) throw notThese(bodyRef)
    const facts = { bodyRef, sizeBytes: bytes.length }
    if (write !== undefined)
      return {
        data: facts,
        show: () => `${sayBytes(bytes.length)} ${bytes.length === 1 ? 'is' : 'are'} in ${write}`,
        files: [{ path: write, content: () => bytes, isSecret: true }],
      }
    const isText = isUtf8(bytes)
    if (!isText && terminal.out.isTerminal && options['json'] !== true)
      throw usageFailure({
        code: 'no-text',
        what: `a body of ${sayBytes(bytes.length)} that is no text is not shown`,
        because: ['A terminal would obey it.'],
        next: [typed('bodies', 'get', bodyRef, '--write', 'body.bin')],
      })
    return {
      data: { ...facts, ...(isText ? { body: bytes.toString() } : { bodyBase64: bytes.toString('base64') }) },
      bytes,
      // A page ends its last line itself.
      show: () => bytes.toString().replace(/\n$/, ''),
    }
  },
})

function notThese(bodyRef: string): ServiceError {
  const detail = 'The bytes that came are not those of this name: is it the right address, and no proxy in between?'
  return new ServiceError({ asked: `GET /bodies/${bodyRef}`, status: 200, code: 'unexpected-answer', detail })
}

export const BODIES: readonly Command[] = [putCommand, getCommand]
