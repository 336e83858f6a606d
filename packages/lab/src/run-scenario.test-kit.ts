import type { RunResult } from './measure/result.ts'
import { runScenario, type RunOptions } from './run-scenario.ts'
import type { ClientGroup, Dependency, PolicyDocument, Scenario } from './scenario/scenario.ts'

export interface SmallWorld {
  readonly durationMs?: number
  readonly group?: Partial<ClientGroup>
  readonly policy?: PolicyDocument
  readonly server?: Partial<Dependency>
  readonly more?: Partial<Scenario>
}

/** One group, one policy, one dependency; ten calls a second for ten seconds unless told otherwise. */
export function smallWorld({ durationMs = 10_000, group, policy, server, more }: SmallWorld): Scenario {
  return {
    name: 'small world',
    durationMs,
    clients: [
      {
        name: 'clients',
        calls: 'server',
        ...(policy && { pipeline: 'policy' }),
        arrivals: { kind: 'constant', perSecond: 10 },
        ...group,
      },
    ],
    ...(policy && { pipelines: { policy } }),
    dependencies: { server: { serviceMs: 10, ...server } },
    ...more,
  }
}

export interface SmallRun {
  readonly clients: RunResult['clients'][string]
  readonly server: RunResult['dependencies'][string]
  readonly result: RunResult
}

export function runSmall(world: SmallWorld, options?: RunOptions): SmallRun {
  const result = runScenario(smallWorld(world), options)
  return { clients: result.clients['clients']!, server: result.dependencies['server']!, result }
}
