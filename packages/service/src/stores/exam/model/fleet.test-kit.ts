import { laneOf, partitionOf } from '../../../task/lane.ts'
import { cursorOf } from '../../cursor.ts'
import type { Beat, Fleet, LaneRecord, Page, PartitionsPage, Remember, Take, WaitingTasks } from '../../store.ts'
import { countersOf } from './history.test-kit.ts'
import { pageOf } from './page.test-kit.ts'
import { plain, type World } from './world.test-kit.ts'

export function beat(world: World, { instance, largeFrom }: Beat): Fleet {
  const { beats, stewards, recordsVersion } = world
  beats.set(instance, (beats.get(instance) ?? 0) + 1)
  return {
    beats: [...beats].map(([instance, count]) => ({ instance, count })),
    stewards: [...stewards.values()],
    recordsVersion,
    waiting: waitingIn(world, largeFrom),
  }
}

function waitingIn(world: World, large: Beat['largeFrom']): WaitingTasks {
  const lanes = [...world.lanes.keys()].map(lane => countersOf(world, lane))
  const sum = (count: (lane: (typeof lanes)[number]) => number, of = lanes): number =>
    of.reduce((total, lane) => total + count(lane), 0)
  const isOpen = ({ pending, inFlight }: (typeof lanes)[number]): number => Number(pending + inFlight > 0)
  const tenants = [...new Set(lanes.map(({ lane }) => laneOf(lane).tenant))].map(tenant => {
    const own = lanes.filter(({ lane }) => laneOf(lane).tenant === tenant)
    return { tenant, pending: sum(lane => lane.pending, own), openLanes: sum(isOpen, own) }
  })
  return {
    tasks: {
      PENDING: sum(lane => lane.pending),
      IN_FLIGHT: sum(lane => lane.inFlight),
      SUCCEEDED: sum(lane => lane.succeeded),
      EXHAUSTED: sum(lane => lane.exhausted),
      CANCELLED: sum(lane => lane.cancelled),
    },
    openLanes: sum(isOpen),
    tenants: tenants.filter(({ pending, openLanes }) => pending >= large.tasks || openLanes >= large.lanes),
    lanes: lanes.filter(({ pending }) => pending >= large.tasks).map(({ lane, pending }) => ({ lane, pending })),
  }
}

export function take({ stewards }: World, { partition, instance, token, from }: Take): boolean {
  const present = stewards.get(partition)?.token ?? null
  // A take whose answer was lost is asked again, with its own token.
  if (present === token) return true
  if (present !== from) return false
  stewards.set(partition, { partition, instance, token })
  return true
}

export function give(world: World, { partition, steward }: { partition: number; steward: string }): boolean {
  return world.isSteward(partition, steward) && world.stewards.delete(partition)
}

export function remember(world: World, { partition, steward, lanes }: Remember): boolean {
  if (!world.isSteward(partition, steward)) return false
  for (const { lane, memory } of lanes) if (partitionOf(lane) === partition) world.memories.set(lane, plain(memory))
  return true
}

const MEMORIES = cursorOf('memories', 'string')

export function memories({ memories }: World, { partitions, ...page }: PartitionsPage): Page<LaneRecord> {
  const wanted = [...memories].filter(([lane]) => partitions.includes(partitionOf(lane)))
  return pageOf(
    wanted.map(([lane, memory]) => ({ lane, memory })),
    page,
    { cursors: MEMORIES, placeOf: ({ lane }): [string] => [lane] },
  )
}
