import type { Destination } from '@secondwind/client'
import { sayMs } from '@secondwind/lab'
import type { Command } from '../command.ts'
import { given } from '../input/given.ts'
import { oneOf, readOptions } from '../input/read-options.ts'
import { sayWhen } from '../output/say-time.ts'
import { pausesLeft } from '../destinations/standing-orders.ts'
import { reasonOf } from '../remote/reason.ts'
import {
  END_OPTIONS,
  endProblems,
  endReaders,
  RAMP_OPTION,
  RAMP_READER,
  STOP_RULE_OPTIONS,
  STOP_RULE_READERS,
} from './coming-back.ts'
import { destinationChange } from './destination-change.ts'
import { limitsCommand } from './limits.ts'
import { nameOf, watchIt } from './watch-it.ts'

const waiting = ({ backlog }: Destination): string =>
  `${backlog.toLocaleString('en')} ${backlog === 1 ? 'task waits' : 'tasks wait'}`

const pauseCommand: Command = destinationChange({
  path: ['pause'],
  summary: 'sends nothing to a destination; its tasks wait, and none is dropped',
  options: [...END_OPTIONS, RAMP_OPTION],
  examples: [
    'pause https://api.pay.example --for 30min --reason INC-2231',
    'pause https://api.pay.example --for 30min --ramp 5min',
  ],
  change: (client, name, { options, clock }) => {
    const readers = { ...endReaders(clock.now()), ramp: RAMP_READER }
    const { for: forMs, until, ramp: rampMs } = readOptions(options, readers, endProblems(options))
    return client.destinations.pause(name, { ...given({ forMs, until, rampMs }), ...reasonOf(options) })
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
  options: [RAMP_OPTION, ...STOP_RULE_OPTIONS],
  examples: ['resume https://api.pay.example --ramp 5min --stop-on-failure-rate 20%'],
  change: (client, name, { options }) => {
    const { ramp: rampMs, ...rule } = readOptions(options, { ramp: RAMP_READER, ...STOP_RULE_READERS })
    return client.destinations.resume(name, { ...given({ rampMs, ...rule }), ...reasonOf(options) })
  },
  say: (destination, { clock }) => {
    const left = pausesLeft(destination, clock.now())
    if (left.length > 0) return `Your own pause is taken back; what others have paused waits on. ${left.join('. ')}.`
    const { rampMs } = destination.settings?.resumed ?? {}
    const rate = hasRateLimit(destination) ? '' : ' That bounds how many are under way at once, not how many a second.'
    return `${nameOf(destination)} is resumed, ${sayRamp(rampMs)}: ${waiting(destination)}.${rate}`
  },
  unchanged: destination => `${nameOf(destination)} is not paused. Nothing was changed.`,
  next: (destination, call) => [
    ...watchIt(destination, call),
    ...(hasRateLimit(destination) ? [] : [call.typed('destinations', 'limits', nameOf(destination), '--rate', '20/s')]),
  ],
})

function sayRamp(rampMs?: number): string {
  const then =
    rampMs === undefined ? 'twice as many every two seconds' : `step by step all of its limit within ${sayMs(rampMs)}`
  return `one request at a time first, then ${then}`
}

/** A target that answers within milliseconds is sent hundreds a second, one at a time. */
function hasRateLimit({ settings, operatorSettings }: Destination): boolean {
  return [settings, operatorSettings].some(set => set?.limits?.rateLimit !== undefined)
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

/** What an operator should know before he leaves it like that. */
const FORCED = {
  open: 'Nothing is sent there, by hand neither, until it is set to auto.',
  closed: 'Its tasks go out and wait for no answers, up to its limits, until it is set to auto.',
} as const

const breakerCommand: Command = destinationChange({
  path: ['destinations', 'breaker'],
  summary: 'sets the breaker of a destination by hand, or lets it open and close by itself again',
  options: [
    { flag: '--set <state>', say: 'nothing goes; everything goes; it opens and closes by itself', choices: STATES },
  ],
  examples: ['destinations breaker https://api.pay.example --set auto'],
  change: (client, name, { options }) => {
    const { set } = readOptions(options, { set: oneOf(...STATES) })
    return client.destinations.force(name, { breaker: set, ...reasonOf(options) })
  },
  say: destination => {
    const state = destination.settings?.forced?.breaker ?? 'auto'
    return state === 'auto'
      ? `The breaker of ${nameOf(destination)} opens and closes by itself again. What is sent there comes back as after a pause: ${sayRamp()}.`
      : `The breaker of ${nameOf(destination)} is ${state}, by hand. ${FORCED[state]}`
  },
  next: watchIt,
})

export const STEERING: readonly Command[] = [
  pauseCommand,
  resumeCommand,
  limitsCommand,
  breakerCommand,
  drainCommand,
  undrainCommand,
]
