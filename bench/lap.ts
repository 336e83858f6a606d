/** One lap, in a process of its own: `node --expose-gc lap.ts <work> <contender>` prints its figures as JSON. */
import type { Calls } from './contenders/contender.ts'
import { WORKS } from './works/index.ts'

const [workId, contender] = process.argv.slice(2)
const work = WORKS.find(({ id }) => id === workId)
if (work === undefined || contender === undefined) throw new Error('usage: lap.ts <work> <contender>')

// Only this contender is loaded: another one's code would share its caches and its heap.
const { calls }: { calls: Calls } = await import(`./contenders/${contender}.ts`)
const figures = await work.run(calls)

// At once: operations of D may still be waiting, and nobody waits for them.
process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit())
