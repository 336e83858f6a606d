/**
 * One lap, in a process of its own: `node --expose-gc lap.ts <work> <contender> <world>` prints its figures as JSON.
 * `prepare` and `prepare before` in the place of a contender make what the work's laps need. The contender `before` is another
 * checkout of this repository, built, with its bench installed: `SECONDWIND_BEFORE` names its folder.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { WORKS } from './works/index.ts'
import type { ServiceWork } from './works/work.ts'
import type { World } from './world.ts'

const [workId, contender, worldText] = process.argv.slice(2)
if (workId === undefined || contender === undefined || worldText === undefined)
  throw new Error('usage: lap.ts <work> <contender | prepare | prepare before> <world>')

const isBefore = contender.endsWith('before')
const world: World = JSON.parse(worldText)
const figures = isBefore
  ? await lap(await worksBefore(), asBefore(contender), beside(world))
  : await lap(WORKS, contender, world)
process.stdout.write(`${JSON.stringify(figures ?? {})}\n`, () => process.exit())

async function lap(works: readonly ServiceWork[], taking: string, of: World): Promise<unknown> {
  const work = works.find(({ id }) => id === workId)
  if (work === undefined) throw new Error(`there is no work ${workId}`)
  return taking === 'prepare' ? work.prepare?.(of) : work.run(taking, of)
}

async function worksBefore(): Promise<readonly ServiceWork[]> {
  const folder = process.env['SECONDWIND_BEFORE'] ?? ''
  const { WORKS: works } = (await import(pathToFileURL(join(folder, 'bench/service/works/index.ts')).href)) as {
    WORKS: readonly ServiceWork[]
  }
  return works
}

function asBefore(taking: string): string {
  return taking === 'before' ? 'secondwind' : 'prepare'
}

/** Its files have another format. */
function beside(of: World): World {
  const folder = join(of.folder, 'before')
  mkdirSync(folder, { recursive: true })
  return { ...of, folder }
}
