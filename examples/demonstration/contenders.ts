/** Three ways to make the same call. Each resolves when the call succeeded and rejects when it is given up. */
import { createFetch } from '@secondwind/resilience/fetch'
import { SCENARIO } from './scenario.ts'

export interface Contender {
  readonly name: string
  readonly call: (url: string) => Promise<void>
}

export const CONTENDERS: readonly Contender[] = [
  { name: 'plain fetch', call: plain },
  { name: `naive, ${SCENARIO.naiveTries} tries`, call: naive },
  { name: 'Secondwind', call: withSecondwind() },
]

async function plain(url: string): Promise<void> {
  await expectOk(await fetch(url))
}

/** The loop that everybody has written once. */
async function naive(url: string): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      return await plain(url)
    } catch (error) {
      if (attempt === SCENARIO.naiveTries) throw error
    }
}

/** As it comes: three attempts, back-off, jitter, and a retry budget of a tenth. */
function withSecondwind(): Contender['call'] {
  const retryingFetch = createFetch()
  return async url => expectOk(await retryingFetch(url))
}

async function expectOk(response: Response): Promise<void> {
  // Read to its end, so that the connection is free for the next call.
  await response.text()
  if (!response.ok) throw new Error(`HTTP ${response.status}`)
}
