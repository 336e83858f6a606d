import assert from 'node:assert/strict'
import { describe, it, vi } from 'vitest'
import { aService, aSink, until } from '../service.test-kit.ts'

// Real sockets, real disks: as long as the machine takes.
vi.setConfig({ testTimeout: 60_000 })

/** A service over SQLite, a sink that can turn bad, and dead letters between them. */
async function anOutage(count: number) {
  const sink = { isBad: true }
  const { url, arrivals } = await aSink((_, response) => void response.writeHead(sink.isBad ? 400 : 200).end())
  const service = await aService()
  const tasks = Array.from({ length: count }, () => ({ targetUrl: `${url}/charge`, method: 'POST', body: '{}' }))
  await service.call('/retry-tasks/batch', tasks)
  await until(
    () => service.call(`/dead-letters?destination=${encodeURIComponent(url)}`),
    ({ body }) => body.items[0]?.count === count,
  )
  arrivals.length = 0
  const plan = { filter: { destination: url }, ratePerSecond: 40, include: ['permanent'] }
  const untilStatus = async (replayId: string, status: string) =>
    (
      await until(
        () => service.call(`/replays/${replayId}`),
        ({ body }) => body.status === status,
      )
    ).body
  return { sink, url, arrivals, service, plan, untilStatus }
}

describe('a replay, over sockets and on a disk', () => {
  it('is planned, read, run behind its canary, and everything arrives once', async () => {
    const { sink, arrivals, service, plan, untilStatus } = await anOutage(60)
    const careful = await service.call('/replays', { ...plan, include: [] })
    assert.equal(careful.status, 201)
    const left = await untilStatus(careful.body.replayId, 'PLANNED')
    assert.deepEqual([left.selected, left.skipped[0].because, left.skipped[0].count], [0, 'permanent', 60])

    const { replayId } = (await service.call('/replays', plan)).body
    assert.equal((await untilStatus(replayId, 'PLANNED')).selected, 60)
    assert.equal(arrivals.length, 0)
    sink.isBad = false
    assert.equal((await service.call(`/replays/${replayId}/run`, { reason: 'mended' })).body.status, 'CANARY')
    const { counts } = await untilStatus(replayId, 'FINISHED')
    assert.deepEqual([counts.moved, counts.sent, counts.succeeded, counts.left], [60, 60, 60, 0])
    assert.equal(arrivals.length, 60)
    assert.equal(new Set(arrivals.map(({ key }) => key)).size, 60)
    const { body } = await service.call('/metrics')
    assert.match(body, /^retry_replay_moved_total 60$/m)
  })

  it('is stopped by its rule while the target is still bad, and goes on when it is mended', async () => {
    const { sink, service, plan, untilStatus } = await anOutage(40)
    const { replayId } = (await service.call('/replays', plan)).body
    await untilStatus(replayId, 'PLANNED')
    await service.call(`/replays/${replayId}/run`, {})
    const { stopped, counts } = await untilStatus(replayId, 'STOPPED')
    assert.ok(stopped.failed >= 2 && stopped.of <= 5 && stopped.overLast === 5)
    assert.ok(counts.moved <= 5 && counts.left >= 35)
    sink.isBad = false
    await service.call(`/replays/${replayId}/resume`, { ratePerSecond: 100 })
    const finished = await untilStatus(replayId, 'FINISHED')
    assert.equal(finished.counts.moved, 40)
    // Those of the first canary died again, and are not brought back twice.
    assert.equal(finished.counts.succeeded, 40 - finished.counts.exhausted)
  })

  it('is paused and cancelled in the middle: what was not moved has stayed dead', async () => {
    const { sink, url, service, plan, untilStatus } = await anOutage(100)
    sink.isBad = false
    const { replayId } = (await service.call('/replays', { ...plan, ratePerSecond: 20 })).body
    await untilStatus(replayId, 'PLANNED')
    await service.call(`/replays/${replayId}/run`, {})
    await until(
      () => service.call(`/replays/${replayId}`),
      ({ body }) => body.counts.sent >= 15,
    )
    assert.equal((await service.call(`/replays/${replayId}/pause`, {})).body.status, 'PAUSED')
    assert.equal((await service.call(`/replays/${replayId}/cancel`, {})).body.status, 'CANCELLED')
    const { body } = await until(
      () => service.call(`/replays/${replayId}`),
      answer => answer.body.counts.waiting + answer.body.counts.underWay === 0,
    )
    assert.ok(body.counts.left > 40, `${body.counts.left} are left`)
    const dead = await service.call(`/dead-letters?destination=${encodeURIComponent(url)}`)
    assert.equal(dead.body.items[0].count, body.counts.left)
  })
})
