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

// Deliveries of the durable service
export { runDelivery } from './delivery/run-delivery.ts'
export { checkDelivery, type DeliveryCheck } from './delivery/check-delivery.ts'
export { DEFAULT_DELIVERY, DEFAULT_DELIVERY_POLICY, returnOf } from './delivery/delivery.ts'
export type * from './delivery/delivery.ts'
export { DELIVERIES } from './delivery/named-deliveries.ts'
export type { DeliverySteps } from './delivery/delivery-meter.ts'
export type { DeliveryResult, GroupMeasures } from './delivery/delivery-result.ts'
export { deliveryReadingOf, deliverySpread, deliverySpreads } from './delivery/delivery-reading.ts'
export type { DeliveryMeasure, DeliveryReading, DeliverySpread, DeliverySpreads } from './delivery/delivery-reading.ts'
export { deliveriesOverSeeds, type DeliveriesOverSeeds } from './delivery/over-seeds.ts'
export { checkDeliveryLimits, type DeliveryLimitCheck, type DeliveryLimits } from './delivery/delivery-limits.ts'
export { deliveryFactsOf, deliveryVerdictOf, type DeliveryTrial } from './delivery/delivery-facts.ts'
export { deliveriesOf, latenessOf } from './delivery/delivery-pictures.ts'

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
