import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Random } from '@secondwind/resilience'
import { onTestFinished } from 'vitest'

const CHILD = fileURLToPath(new URL('service-child.test-kit.ts', import.meta.url))

export interface ServiceProcess {
  readonly url: string
  /** Without warning; resolves when it is gone. */
  kill(): Promise<void>
}

export async function startProcess(data: string): Promise<ServiceProcess> {
  const flags = ['--conditions=@secondwind/source', CHILD, data]
  const child = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await closed
  }
  onTestFinished(kill)
  const [line] = (await Promise.race([once(child.stdout, 'data'), closed])) as [unknown]
  if (!(line instanceof Buffer)) throw new Error('the service ended before it listened')
  return { url: line.toString().trim(), kill }
}

interface Lives {
  readonly data: string
  readonly rounds: number
  readonly random: Random
}

/**
 * Lets callers do the same thing over and over while the service is killed and started again; a caller is done with a
 * round when its call gets no answer. The service that is left at the end has all of it behind it.
 */
export async function throughCrashes(
  { data, rounds, random }: Lives,
  call: (url: string) => Promise<unknown>,
): Promise<ServiceProcess> {
  for (let round = 0; round < rounds; round++) {
    const service = await startProcess(data)
    const callers = Array.from({ length: CALLERS }, () => untilCutOff(() => call(service.url)))
    await sleep(SHORTEST_LIFE_MS + random() * SHORTEST_LIFE_MS)
    await service.kill()
    await Promise.all(callers)
  }
  return startProcess(data)
}

const CALLERS = 6
const SHORTEST_LIFE_MS = 400

/** A call that was cut off is what is looked for here: its message says nothing. */
async function untilCutOff(call: () => Promise<unknown>): Promise<void> {
  for (;;)
    try {
      await call()
    } catch (error) {
      if (error instanceof TypeError) return
      throw error
    }
}
