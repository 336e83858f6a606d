import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import type { Command } from '../command.ts'
import { COMMANDS } from '../commands.ts'
import { isRemote, placedIn } from './examples.test-kit.ts'
import { aService, type RunningService } from './service.test-kit.ts'

/** Of the examples in the help, by what stands for them in a service that has just begun. */
const PLACEHOLDERS: { readonly [example: string]: (service: RunningService) => string | Promise<string> } = {
  '01a1e2a2-09b8-7b02-87fa-57f25d3342be': async ({ aTask }) => (await aTask('200', { delayMs: 300 })).taskId,
  '0fb94dcade44166d': async ({ aTask, client }) => {
    await client.waitFor((await aTask('400')).taskId)
    return (await client.deadLetters.groups().page()).items[0]!.causeId
  },
  'https://api.pay.example': ({ url }) => url,
  'http://127.0.0.1:4747/_flaky/503x2': ({ url }) => `${url}/_flaky/503x2`,
}

const FILES: { readonly [name: string]: string } = {
  'payments.json': '{"maxAttempts":8}',
  'order.json': '{"amount":4200}',
  'tasks.ndjson': '{"targetUrl":"https://api.example/a","delayMs":3600000}\n',
  'task.json': '{"targetUrl":"https://api.example/charge","delayMs":3600000}',
}

/** What is not there, or is in another state, is refused with that; the command line itself was right. */
const FINE: readonly (number | null)[] = [0, 3, 5, 6]

describe('every example of the help, against a running service', () => {
  const commands: readonly Command[] = COMMANDS.filter(isRemote)

  it.each(commands.flatMap(({ examples }) => examples))('works when pasted: %s', async example => {
    const service = await aService()
    const folder = mkdtempSync(join(tmpdir(), 'secondwind-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    await service.client.waitFor((await service.aTask('200')).taskId)
    const words = await Promise.all(
      example.split(' ').map(async word => {
        const file = FILES[word]
        if (file !== undefined) writeFileSync(join(folder, word), file)
        if (file !== undefined) return join(folder, word)
        return PLACEHOLDERS[word]?.(service) ?? placedIn(folder, word)
      }),
    )
    const { exitCode, stderr } = await service.atTerminal(words, { answers: ['yes'] })
    assert.ok(FINE.includes(exitCode), stderr)
  })
})
