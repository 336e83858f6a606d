import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '../../statistics.ts'
import { buryAll, openStore } from '../ours/store.ts'
import { openService } from '../ours/service.ts'
import { startSink } from '../sink.ts'
import { newFolder, preciseNow, sized } from '../world.ts'
import type { ServiceWork } from './work.ts'

const SIZES = {
  full: { dead: 100_000, ratePerSecond: 600, livePerSecond: 200, warmUp: 2_000 },
  quick: { dead: 2_000, ratePerSecond: 300, livePerSecond: 100, warmUp: 200 },
}
/** Live tasks have been added before the first is due. */
const LEAD_MS = 3_000
const LOOK_MS = 250
const SEED = 23

export const replay: ServiceWork = {
  id: 'replay',
  title: '100,000 dead letters replayed at 600 a second, behind 200 live tasks a second',
  contenders: ['secondwind', 'without'],
  figures: [
    { key: 'liveP99Ms', label: 'lateness of live tasks p99, ms' },
    { key: 'liveP50Ms', label: 'lateness of live tasks p50, ms' },
    { key: 'rateHeld', label: 'rate held, of the rate asked for', moreIsBetter: true },
  ],
  bars: [
    { figure: 'rateHeld', sign: '≥', limit: 0.95 },
    { figure: 'rateHeld', sign: '≤', limit: 1.05 },
    { figure: 'liveP99Ms', sign: '≤', limit: 1.2, times: 'without' },
  ],
  run: async (contender, world) => {
    const { dead, ratePerSecond, livePerSecond, warmUp } = sized(world, SIZES)
    const folder = newFolder(world)
    const sink = await startSink()
    const url = sink.urls[0]!
    await bury(folder, url, dead)
    const service = await openService(folder)
    await service.addMany(Array.from({ length: warmUp }, () => ({ url })))
    const liveCount = Math.round((dead / ratePerSecond) * livePerSecond)
    const isReplayed = contender === 'secondwind'
    const [warm, all] = await sink.watch([warmUp, warmUp + liveCount + (isReplayed ? dead : 0)])
    await service.start()
    await warm!
    await service.whenDone()

    const plan = isReplayed ? await planned(service.url(), url, ratePerSecond) : undefined
    const random = seededRandom(SEED)
    const firstAt = Math.ceil(preciseNow()) + LEAD_MS
    const spanMs = (dead * 1_000) / ratePerSecond
    const live = Array.from({ length: liveCount }, () => ({ url, dueAt: firstAt + Math.floor(random() * spanMs) }))
    await service.addMany(live)
    const rate = plan === undefined ? undefined : await runOf(plan, ratePerSecond)
    const { latenessMs } = await all!

    await service.close()
    await sink.stop()
    rmSync(folder, { recursive: true })
    const rateHeld = rate === undefined ? {} : { rateHeld: rate }
    return { ...rateHeld, liveP99Ms: latenessMs.p99, liveP50Ms: latenessMs.p50 }
  },
}

async function bury(folder: string, url: string, count: number): Promise<void> {
  const store = await openStore(folder)
  await buryAll(store, url, count)
  await store.close()
}

/** Answers where the plan is, once it is counted. */
async function planned(service: string, destination: string, ratePerSecond: number): Promise<string> {
  const filter = { destination: new URL(destination).origin }
  const { replayId } = await ask(`${service}/replays`, { filter, ratePerSecond, canary: 0 })
  const path = `${service}/replays/${replayId}`
  while ((await ask(path)).status === 'PLANNING') await sleep(LOOK_MS)
  return path
}

/** Which part of the rate it kept, from the first look after its start to the last before its end. */
async function runOf(path: string, ratePerSecond: number): Promise<number> {
  await ask(`${path}/run`, {})
  const looks: { at: number; sent: number }[] = []
  for (;;) {
    const { status, counts } = await ask(path)
    assert.notEqual(status, 'STOPPED')
    if (status === 'FINISHED' || counts.left === 0) break
    if (counts.sent > 0) looks.push({ at: preciseNow(), sent: counts.sent })
    await sleep(LOOK_MS)
  }
  const [first, last] = [looks[0]!, looks.at(-1)!]
  return ((last.sent - first.sent) * 1_000) / (last.at - first.at) / ratePerSecond
}

interface Shown {
  readonly replayId: string
  readonly status: string
  readonly counts: { readonly sent: number; readonly left: number }
}

async function ask(url: string, body?: object): Promise<Shown> {
  const sent = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetch(url, body === undefined ? {} : sent)
  const text = await response.text()
  assert.ok(response.ok, text)
  return JSON.parse(text) as Shown
}
