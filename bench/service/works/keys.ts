import { rmSync } from 'node:fs'
import { load } from '../intake/load.ts'
import { serve } from '../ours/service.ts'
import { newFolder, sized } from '../world.ts'
import type { ServiceWork } from './work.ts'

const SIZES = {
  full: { warmUpSeconds: 3, measuredSeconds: 8 },
  quick: { warmUpSeconds: 1, measuredSeconds: 2 },
}

export const keys: ServiceWork = {
  id: 'keys',
  title: 'the intake, with a key on every request and a secret to sign with',
  contenders: ['secondwind', 'without'],
  leastRounds: 7,
  figures: [
    { key: 'tasksPerSecond', label: 'tasks per second', moreIsBetter: true },
    { key: 'p99Ms', label: 'p99 of one request, ms' },
  ],
  bars: [{ figure: 'tasksPerSecond', sign: '≥', limit: 0.9, times: 'without' }],
  run: async (contender, world) => {
    const { warmUpSeconds, measuredSeconds } = sized(world, SIZES)
    const folder = newFolder(world)
    const service = await serve(folder)
    const access = contender === 'without' ? {} : { accessKey: await closeTheDoor(service.url) }
    const url = `${service.url}/retry-tasks`
    await load({ url, seconds: warmUpSeconds, keyPrefix: 'warm-up', ...access })
    const { perSecond, p99Ms } = await load({ url, seconds: measuredSeconds, keyPrefix: 'measured', ...access })
    await service.stop()
    rmSync(folder, { recursive: true })
    return { tasksPerSecond: perSecond, p99Ms }
  },
}

/** The operator's key, and with it one that may only hand over tasks. */
async function closeTheDoor(url: string): Promise<string> {
  const { key: admin } = await post<{ key: string }>(`${url}/keys`, { scopes: ['admin'], isOperator: true })
  await post(`${url}/secrets`, {}, admin)
  return (await post<{ key: string }>(`${url}/keys`, { scopes: ['enqueue'] }, admin)).key
}

async function post<Answer>(url: string, body: object, key?: string): Promise<Answer> {
  const headers = { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(await response.text())
  return (await response.json()) as Answer
}
