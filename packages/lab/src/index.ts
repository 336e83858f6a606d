// Scenarios
export { runScenario, InvalidScenarioError, type RunOptions } from './run-scenario.ts'
export type { Counted } from './engine/pipeline.ts'
export { checkScenario, type ScenarioCheck } from './scenario/check-scenario.ts'
export { SCENARIOS } from './scenario/named.ts'
export { callsOf, memoryOf } from './scenario/size.ts'
export { DEFAULT_QUEUE, DEFAULT_SCENARIO } from './scenario/scenario.ts'
export type * from './scenario/scenario.ts'
export type * from './scenario/distribution.ts'

// What came of one
export { capacityOf } from './measure/measure.ts'
export { troubleEndOf } from './measure/recovery.ts'
export { largest } from './measure/totals.ts'
export type * from './measure/result.ts'
export type { StepCounts } from './measure/station-meter.ts'

// Before a policy goes to production
export { checkProduction, type ChecklistOptions, type ChecklistPoint } from './checklist/checklist.ts'
export type { PointId } from './checklist/points.ts'
export { advise, type Advice } from './advise/advise.ts'
export type { Answers, Reason } from './advise/answers.ts'

// Trying a policy
export { herdWorld, outageWorld, tiersWorld, withoutRetries, withPolicy } from './trial/worlds.ts'
export type { HerdWorld, OutageWorld } from './trial/worlds.ts'
export { readingOf, readingsOf, worstOf, type Measure, type Reading, type Readings } from './trial/reading.ts'
export { estimate, estimatesOf, meanReading, middleOf, type Estimate, type Estimates } from './trial/over-seeds.ts'
export { checkLimits, type LimitCheck, type Limits } from './trial/limits.ts'
export { verdictOf } from './trial/verdict.ts'
export { factsOf, type Trial } from './trial/facts.ts'
export { arrivalsOf, latenciesOf, type NamedRun } from './trial/picture.ts'
export { setAt } from './trial/set-at.ts'

// Pictures, and numbers for people
export * from './plots/index.ts'
export * from './report/index.ts'

// Closed forms
export * from './closed-forms/index.ts'

// Chance that can be repeated
export { dieFor, type Die } from './chance/streams.ts'

// What others have published
export type { Measured, Unit } from './measure/measured.ts'
export { REPRODUCTIONS } from './reproductions/index.ts'
export type { Effort, Finding, Reproduction } from './reproductions/reproduction.ts'

// What people tell about incidents, and what comes out here
export { WORKED_CASES } from './worked-cases/index.ts'
export { runCase, type CaseOptions, type Claim, type WorkedCase } from './worked-cases/worked-case.ts'
