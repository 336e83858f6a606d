import type { CapturedResponse } from '@secondwind/client'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { anAnswer, aService } from '../remote/service.test-kit.ts'
import { answerCell } from './answers.ts'

const said = (body: string, truncated = false): CapturedResponse => ({
  headers: {},
  body,
  bodyEncoding: 'utf8',
  truncated,
})

describe('what a target said', () => {
  it('is shown as it is where it is short, in one line', () => {
    assert.deepEqual(answerCell(said('no\n  room ')), { value: 'no room', say: 'no room' })
  })

  it('is one line of a page, however many it has, and without the one that ends it', async () => {
    const { client, atTerminal, inPipe } = await aService()
    const target = await anAnswer((_, response) =>
      response.writeHead(400).end('{\n  "error": "no\u001B[2J room"\n}\r\n'),
    )
    const { taskId } = await client.waitFor((await client.tasks.enqueue({ targetUrl: target })).taskId)
    const line = String.raw`{ "error": "no\x1b[2J room" }`
    const words = ['tasks', 'attempts', taskId]
    for (const { stdout } of [await atTerminal(words, { columns: 140 }), await inPipe(words)])
      assert.ok(stdout.split('\n')[1]!.endsWith(line), stdout)
    assert.ok((await atTerminal(['destinations', 'get', target])).stdout.includes(line))
  })

  it('ends with … where it was cut: by the cell, by the line, or by the service that kept its beginning', () => {
    const { value, say } = answerCell(said('x'.repeat(400)))
    assert.deepEqual([String(value).length, String(value).at(-1)], [300, '…'])
    assert.deepEqual([say.length, say.at(-1)], [40, '…'])
    assert.equal(answerCell(said('half of', true)).say, 'half of…')
    assert.equal(answerCell(said('x'.repeat(300))).value, 'x'.repeat(300))
  })
})
