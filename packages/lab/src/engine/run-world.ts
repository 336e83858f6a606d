import { DEFAULT_SCENARIO, type Scenario } from '../scenario/scenario.ts'
import { OF_CALL, OF_OPERATION, OWNER_BITS, OWNER_MASK } from './core.ts'
import { LINE, ROUTE, WIDTH } from './rows.ts'
import { World, type WorldOptions } from './world.ts'

/** The world after everything that could happen in it has happened. */
export interface Past {
  readonly world: World
  readonly events: number
  /** The instant of the last thing that happened, troubles and orders aside. */
  readonly endedAtMs: number
}

/** Lets a scenario happen. Nothing in here takes time of its own or draws a die that is not the seed's. */
export function runWorld(scenario: Scenario, options: WorldOptions): Past {
  const world = new World(scenario, options)
  const { core, lines, sources, sourceFirsts } = world
  const { agenda, clock, operations, calls } = core
  const { drainMs, stepMs, warmUpMs } = { ...DEFAULT_SCENARIO, ...scenario }
  const endAt = scenario.durationMs + drainMs
  let endedAtMs = 0
  let stepEndsAt = stepMs
  let warmUpEndsAt = warmUpMs > 0 ? warmUpMs : Infinity
  for (const source of sources) source.start()
  // Ends: nothing begins after the duration, and no operation has more attempts than its policy allows.
  for (let event = agenda.next(); event >= 0 && agenda.at <= endAt; event = agenda.next()) {
    const now = (clock.now = agenda.at)
    while (now >= stepEndsAt) {
      beginStep(world, ++clock.step)
      stepEndsAt = (clock.step + 1) * stepMs
    }
    if (now >= warmUpEndsAt) {
      for (const meter of [...world.groupMeters, ...world.tierMeters]) meter.forget()
      warmUpEndsAt = Infinity
    }
    const row = event >> OWNER_BITS
    switch (event & OWNER_MASK) {
      case OF_OPERATION:
        lines[operations.data[row * WIDTH + LINE]!]!.wake(row)
        endedAtMs = now
        break
      case OF_CALL:
        lines[calls.data[row * WIDTH + ROUTE]!]!.ring(row)
        endedAtMs = now
        break
      default: {
        const source = sourceFirsts.length === 1 ? 0 : world.sourceAt(row)
        sources[source]!.ring(row - sourceFirsts[source]!)
      }
    }
  }
  return { world, events: agenda.setEver, endedAtMs }
}

function beginStep(world: World, step: number): void {
  for (const meter of world.groupMeters) meter.beginStep(step)
  for (const meter of world.tierMeters) meter.beginStep(step)
  for (const { meter, stations } of world.places.values())
    meter.beginStep(
      step,
      stations.reduce((sum, station) => sum + station.waiting, 0),
    )
}
