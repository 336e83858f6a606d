/** `@secondwind/client`: the retry service, as a program asks it. */
export { createClient } from './client.ts'
export type { Client, Readiness } from './client.ts'
export type { ClientOptions } from './options.ts'
export { DEFAULT_CLIENT_POLICY } from './policy.ts'
export type { Call, ChangeCall } from './caller.ts'
export type { EnqueuedTask, Tasks } from './tasks.ts'
export type { EnqueueEnd, EnqueueResult } from './enqueue-many.ts'
export type { Bodies, Upload } from './bodies.ts'
export type { Policies } from './policies.ts'
export type { DeadLetters } from './dead-letters.ts'
export type { Replays } from './replays.ts'
export type { Controls } from './controls.ts'
export type { Destinations } from './destinations.ts'
export { followControls, type FollowControlsOptions, type FollowedControls } from './follow-controls.ts'
export type { Listing } from './listing.ts'
export type { Keys } from './access/keys.ts'
export type { Secrets } from './access/secrets.ts'
export type { Tenants } from './access/tenants.ts'
export { WaitDeadlineError, type WaitForOptions } from './follow.ts'

// Hand-over
export { handOver, HandOverError, type Describe, type HandedOver, type TaskDescription } from './hand-over.ts'
export { describeRequest } from './describe-request.ts'

// Deliveries that the service signed
export { SignatureError, verifySignature } from './signature/verify-signature.ts'
export type {
  SignatureErrorCode,
  SignedRequest,
  VerifiedDelivery,
  VerifyOptions,
} from './signature/verify-signature.ts'

// What is refused
export { ServiceError, UnreachableError, type ServiceErrorCode, type ServiceErrorParts } from './errors.ts'
export { InvalidOptionError } from '@secondwind/resilience/fetch'

// What may be shown of it
export { isSecretName, redact, REDACTED, redactProblem, redactText } from './secrets.ts'

// What goes over the wire
export { REPLAY_STATUSES } from './wire/replay.ts'
export type * from './wire/access.ts'
export type * from './wire/batch.ts'
export type * from './wire/body.ts'
export type * from './wire/control.ts'
export type * from './wire/dead-letter.ts'
export type * from './wire/destination.ts'
export type * from './wire/event.ts'
export type * from './wire/page.ts'
export type * from './wire/policy.ts'
export type * from './wire/problem.ts'
export type * from './wire/replay.ts'
export type * from './wire/series.ts'
export type * from './wire/state.ts'
export type * from './wire/task.ts'
