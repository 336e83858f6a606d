/** What a thread can be asked for, and how it is done: the same here and there. */
import { callsOf, deliveryReadingOf, readingsOf, REPRODUCTIONS, WORKED_CASES } from '@secondwind/lab'
import { runCase, runDelivery, runScenario } from '@secondwind/lab'
import type { Claim, Effort, Finding, Readings, RunResult, Scenario, WorkedCase } from '@secondwind/lab'
import type { DeliveryReading, DeliveryResult, DeliveryScenario } from '@secondwind/lab'

export interface ScenarioJob {
  readonly kind: 'scenario'
  readonly scenario: Scenario
  readonly seed: number
  /** With every series, and not only what each dependency saw. */
  readonly isWhole: boolean
}

export interface DeliveryJob {
  readonly kind: 'delivery'
  readonly scenario: DeliveryScenario
  readonly seed: number
  readonly isWhole: boolean
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

export type Job = ScenarioJob | DeliveryJob | ReproductionJob | CaseJob

interface Results {
  readonly scenario: { readonly readings: Readings; readonly result?: RunResult }
  readonly delivery: { readonly reading: DeliveryReading; readonly result?: DeliveryResult }
  readonly reproduction: readonly Finding[]
  readonly case: readonly Claim[]
}

export type ResultOf<J extends Job> = Results[J['kind']]

export function runJob<J extends Job>(job: J): ResultOf<J>
export function runJob(job: Job): Results[Job['kind']] {
  switch (job.kind) {
    case 'scenario': {
      const result = runScenario(job.scenario, { seed: job.seed })
      return { readings: readingsOf(result), ...(job.isWhole && { result }) }
    }
    case 'delivery': {
      const result = runDelivery(job.scenario, { seed: job.seed })
      return { reading: deliveryReadingOf(result), ...(job.isWhole && { result }) }
    }
    case 'reproduction':
      return REPRODUCTIONS.find(({ name }) => name === job.name)!.run(job.effort)
    case 'case':
      return runCase(caseOf(job), job)
  }
}

/** A few tenths of a second. */
const QUICK_CALLS = 200_000
const QUICK_TASKS = 10_000

/** Whether it is done before anybody wonders; what cannot be told beforehand is not. */
export function isQuick(job: Job): boolean {
  switch (job.kind) {
    case 'scenario':
      return callsOf(job.scenario) <= QUICK_CALLS
    case 'delivery':
      return job.scenario.tasks.reduce((tasks, { count }) => tasks + count, 0) <= QUICK_TASKS
    case 'reproduction':
      return false
    case 'case': {
      const variants = Object.values(caseOf(job).variants(job.scale))
      return variants.reduce((calls, variant) => calls + callsOf(variant), 0) <= QUICK_CALLS
    }
  }
}

function caseOf(job: CaseJob): WorkedCase {
  return WORKED_CASES.find(({ name }) => name === job.name)!
}
