import type { Series } from '@secondwind/client'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { aService } from '../remote/service.test-kit.ts'
import { judge } from './series.ts'

describe('series', () => {
  it('show what was sent and what came of it, as lines for people and as slots for programs', async () => {
    const { aTask, client, url, atTerminal, inPipe } = await aService()
    await client.waitFor((await aTask('503')).taskId)
    const sent = async (): Promise<Series> => {
      const { stdout, stderr } = await inPipe(['series', url, '--json'])
      assert.equal(stderr, '')
      return JSON.parse(stdout) as Series
    }
    let series = await sent()
    // A slot is told when it is over.
    while (series.slots.every(({ succeeded }) => succeeded === 0)) series = await sent()
    assert.equal(
      series.slots.reduce((all, { first, retry }) => all + first + retry, 0),
      2,
    )
    const { stdout } = await atTerminal(['series', url])
    assert.match(
      stdout,
      /a second each, from \d{4}-[^]*first[^]*retries[^]*2 attempts in .*, 50 % of them retries; 50 %/,
    )
    const [heading] = (await inPipe(['series', '--csv'])).stdout.split('\n')
    assert.equal(heading, 'at,first,retry,succeeded,failed,held,p50Ms,p99Ms')
  })

  it('take the destination as an argument or, like other commands, as a flag, but not both', async () => {
    const { inPipe, client } = await aService()
    await client.destinations.pause('https://api.example')
    const named = await inPipe(['series', '--destination', 'https://api.example', '--json'])
    assert.equal((JSON.parse(named.stdout) as Series).destination, 'https://api.example', named.stderr)
    for (const words of [['https://api.exmple'], ['--destination', 'https://api.exmple']]) {
      const unknown = await inPipe(['series', ...words])
      assert.deepEqual([unknown.stdout, unknown.exitCode], ['', 3])
      assert.match(unknown.stderr, /^error destination-not-found {2}nothing was ever sent to https:\/\/api\.exmple/)
    }
    const neither = await inPipe(['series', 'nope'])
    assert.match(neither.stderr, /must be an origin such as https:\/\/api\.example, or the name of a destination/)
    assert.deepEqual([neither.stdout, neither.exitCode], ['', 2])
    const twice = await inPipe(['series', 'https://api.example', '--destination', 'https://api.example'])
    assert.match(twice.stderr, /^error wrong-option {2}the destination is named twice/)
    assert.deepEqual([twice.stdout, twice.exitCode], ['', 2])
  })

  it('say nothing of what was not sent', () => {
    assert.equal(judge({ resolution: 'second', slots: [] }), 'Nothing was sent.')
  })
})
