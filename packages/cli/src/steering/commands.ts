import type { Destination } from '@secondwind/client'
import { sayMs } from '@secondwind/lab'
import type { Command } from '../command.ts'
import { given } from '../input/given.ts'
import { instant } from '../input/read-instant.ts'
import { duration, oneOf, optional, perSecond, readOptions, text, wholeNumber } from '../input/read-options.ts'
import { sayWhen } from '../output/say-time.ts'
import { reasonOf } from '../remote/reason.ts'
import type { RemoteCall } from '../remote/remote-command.ts'
import { COMING_BACK_OPTIONS, comingBackOf } from './coming-back.ts'
import { destinationChange } from './destination-change.ts'

const LONGEST_MS = 30 * 86_400_000

const nameOf = ({ name, destination }: Destination): string => name ?? destination

const waiting = ({ backlog }: Destination): string =>
  `${backlog.toLocaleString('en')} ${backlog === 1 ? 'task waits' : 'tasks wait'}`

const pauseCommand: Command = destinationChange({
  path: ['pause'],
  summary: 'sends nothing to a destination; its tasks wait, and none is dropped',
  options: [
    { flag: '--for <duration>', say: 'it ends by itself after so long' },
    { flag: '--until <time>', say: 'it ends by itself then' },
    ...COMING_BACK_OPTIONS,
  ],
  examples: [
    'pause https://api.pay.example --for 30min --reason INC-2231',
    'pause https://api.pay.example --for 30min --ramp 5min --stop-on-failure-rate 20%',
  ],
  change: (client, name, { options, clock }) => {
    const { for: forMs, until } = readOptions(options, {
      for: optional(duration(1, LONGEST_MS)),
      until: optional(instant(clock.now(), 'ahead')),
    })
    return client.destinations.pause(name, {
      ...given({ forMs, until }),
      ...comingBackOf(options),
      ...reasonOf(options),
    })
  },
  say: (destination, { clock }) => {
    const until = destination.settings?.paused?.until
    const end = until === undefined ? 'until it is resumed' : `until ${sayWhen(until, clock.now())}`
    const finishing = destination.inFlight === 0 ? '' : ` ${destination.inFlight} under way may finish.`
    return `${nameOf(destination)} is paused ${end}: ${waiting(destination)}, nothing is dropped and no attempt spent.${finishing}`
  },
  next: (destination, { typed }) => [
    typed('tasks', 'list', '--destination', destination.destination),
    typed('resume', nameOf(destination), '--ramp', '5min', '--stop-on-failure-rate', '20%'),
  ],
})

const resumeCommand: Command = destinationChange({
  path: ['resume'],
  summary: 'sends to a paused destination again, step by step',
  options: COMING_BACK_OPTIONS,
  examples: ['resume https://api.pay.example --ramp 5min --stop-on-failure-rate 20%'],
  change: (client, name, { options }) =>
    client.destinations.resume(name, { ...comingBackOf(options), ...reasonOf(options) }),
  say: destination => {
    const { rampMs } = destination.settings?.resumed ?? {}
    const how =
      rampMs === undefined
        ? 'one at a time first, then twice as many every two seconds'
        : `all of its limit within ${sayMs(rampMs)}`
    return `${nameOf(destination)} is resumed, ${how}: ${waiting(destination)}.`
  },
  next: watchIt,
})

function watchIt(destination: Destination, { typed }: RemoteCall): readonly string[] {
  return [typed('destinations', 'get', nameOf(destination)), typed('series', destination.destination)]
}

const drainCommand: Command = destinationChange({
  path: ['destinations', 'drain'],
  summary: 'takes no new tasks for a destination; what waits goes on',
  examples: ['destinations drain https://api.pay.example'],
  change: (client, name, { options }) => client.destinations.drain(name, reasonOf(options)),
  say: destination =>
    `New tasks for ${nameOf(destination)} are refused, and what waits goes on: ${waiting(destination)}.`,
  next: (destination, { typed }) => [typed('destinations', 'undrain', nameOf(destination))],
})

const undrainCommand: Command = destinationChange({
  path: ['destinations', 'undrain'],
  summary: 'takes tasks for a destination again',
  examples: ['destinations undrain https://api.pay.example'],
  change: (client, name, { options }) => client.destinations.undrain(name, reasonOf(options)),
  say: destination => `Tasks for ${nameOf(destination)} are taken again.`,
  next: watchIt,
})

const STATES = ['open', 'closed', 'auto'] as const

const breakerCommand: Command = destinationChange({
  path: ['destinations', 'breaker'],
  summary: 'sets the breaker of a destination by hand, or lets it judge for itself again',
  options: [{ flag: '--set <state>', say: 'nothing goes; everything goes; it judges for itself', choices: STATES }],
  examples: ['destinations breaker https://api.pay.example --set auto'],
  change: (client, name, { options }) => {
    const { set } = readOptions(options, { set: oneOf(...STATES) })
    return client.destinations.force(name, { breaker: set, ...reasonOf(options) })
  },
  say: destination => `The breaker of ${nameOf(destination)} is ${destination.settings?.forced?.breaker ?? 'auto'}.`,
  next: watchIt,
})

const limitsCommand: Command = destinationChange({
  path: ['destinations', 'limits'],
  summary: 'sets the name and the limits of a destination; what is left out stays as it is',
  options: [
    { flag: '--name <name>', say: 'a name for people, which every command takes' },
    { flag: '--concurrency <number>', say: 'requests under way at once' },
    { flag: '--rate <rate>', say: 'attempts a second, such as 50/s' },
  ],
  examples: ['destinations limits https://api.pay.example --name payments --concurrency 20 --rate 50/s'],
  change: setLimits,
  say: destination => `The limits of ${nameOf(destination)} are in force within two seconds.`,
  next: watchIt,
})

/** Read first: what is not given is kept, and what somebody else changed meanwhile is not overwritten. */
async function setLimits(client: RemoteCall['client'], named: string, { options }: RemoteCall): Promise<Destination> {
  const { name, concurrency, rate } = readOptions(options, {
    name: optional(text()),
    concurrency: optional(wholeNumber(1, 100_000)),
    rate: optional(perSecond()),
  })
  const before = await client.destinations.get(named)
  const rateLimit = rate === undefined ? undefined : { perSecond: rate }
  return client.destinations.put(named, {
    ...given({ name: name ?? before.name }),
    limits: { ...before.settings?.limits, ...given({ concurrency, rateLimit }) },
    version: before.settings?.version ?? 0,
    ...reasonOf(options),
  })
}

export const STEERING: readonly Command[] = [
  pauseCommand,
  resumeCommand,
  limitsCommand,
  breakerCommand,
  drainCommand,
  undrainCommand,
]
