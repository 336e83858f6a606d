/**
 * One lap, in a process of its own: `node --expose-gc lap.ts <work> <contender> <world>` prints its figures as JSON.
 * `prepare` in the place of a contender makes what the work's laps need.
 */
import { WORKS } from './works/index.ts'
import type { World } from './world.ts'

const [workId, contender, worldText] = process.argv.slice(2)
const work = WORKS.find(({ id }) => id === workId)
if (work === undefined || contender === undefined || worldText === undefined)
  throw new Error('usage: lap.ts <work> <contender | prepare> <world>')

const world: World = JSON.parse(worldText)
const figures = contender === 'prepare' ? await work.prepare?.(world) : await work.run(contender, world)

process.stdout.write(`${JSON.stringify(figures ?? {})}\n`, () => process.exit())
