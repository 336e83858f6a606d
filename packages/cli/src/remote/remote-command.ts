import { ServiceError } from '@secondwind/client'
import { systemClock, type Clock } from '@secondwind/resilience'
import type { Answer, Call, Command } from '../command.ts'
import { withKnownDestinations } from '../destinations/known-destination.ts'
import type { ExitCode } from '../exit-codes.ts'
import { retyped, typed } from '../input/typed.ts'
import { connect, CONNECTION_OPTIONS, type Connection } from './connection.ts'
import { tellOpenKeyFile } from './open-key-file.ts'
import { asFailure } from './service-failure.ts'
import { tenantOfKey } from './tenant-of-key.ts'
import { onlyAsked } from './whose.ts'

/** A call of a command that talks to a running service. */
export interface RemoteCall extends Call, Connection {
  readonly clock: Clock
  /** A command to be pasted, for the same service. */
  readonly typed: (...words: readonly string[]) => string
}

export interface RemoteCommand extends Omit<Command, 'run'> {
  /** It changes something: without an answer nobody knows whether it did. */
  readonly isChange?: true
  readonly run: (call: RemoteCall) => Promise<Answer | ExitCode>
}

/** Connects it to the service that is meant, and has every refusal told in four parts. */
export function remoteCommand({ run, isChange, options = [], ...command }: RemoteCommand): Command {
  return {
    ...command,
    options: [...options, ...CONNECTION_OPTIONS],
    run: async call => {
      const typedHere: RemoteCall['typed'] = (...words) =>
        typed([...words, ...retyped(call.options, CONNECTION_OPTIONS)])
      const remote: RemoteCall = { ...call, ...connect(call.options), clock: systemClock, typed: typedHere }
      const asked = { ...remote, isChange: isChange ?? false }
      const failed = (error: unknown): unknown => asFailure(error, asked)
      tellOpenKeyFile(call.options['keyFile'], call.terminal.tell)
      try {
        const answer = await run(await withKnownDestinations(remote, { arguments: command.arguments, options }))
        return typeof answer === 'number' ? answer : { ...answer, failed }
      } catch (error) {
        const isRefused = error instanceof ServiceError && error.code === 'scope-missing'
        throw asFailure(error, {
          ...asked,
          keyTenant: isRefused ? await tenantOfKey(remote) : undefined,
          onlyAsked: await onlyAsked(error, remote),
        })
      }
    },
  }
}
