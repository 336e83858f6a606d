/** What a thread can be asked for, and how it is done: the same here and there. */
import { REPRODUCTIONS, runCase, runScenario, WORKED_CASES } from '@secondwind/lab'
import type { Claim, Effort, Finding, RunResult, Scenario } from '@secondwind/lab'

export interface ScenarioJob {
  readonly kind: 'scenario'
  readonly scenario: Scenario
  readonly seed: number
}

export interface ReproductionJob {
  readonly kind: 'reproduction'
  readonly name: string
  readonly effort: Effort
}

export interface CaseJob {
  readonly kind: 'case'
  readonly name: string
  readonly scale: number
  readonly seed: number
}

export type Job = ScenarioJob | ReproductionJob | CaseJob

interface Results {
  readonly scenario: RunResult
  readonly reproduction: readonly Finding[]
  readonly case: readonly Claim[]
}

export type ResultOf<J extends Job> = Results[J['kind']]

export function runJob<J extends Job>(job: J): ResultOf<J>
export function runJob(job: Job): Results[Job['kind']] {
  switch (job.kind) {
    case 'scenario':
      return runScenario(job.scenario, { seed: job.seed })
    case 'reproduction':
      return REPRODUCTIONS.find(({ name }) => name === job.name)!.run(job.effort)
    case 'case':
      return runCase(
        WORKED_CASES.find(({ name }) => name === job.name)!,
        job,
      )
  }
}
