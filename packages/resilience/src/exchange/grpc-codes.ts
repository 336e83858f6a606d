/**
 * gRPC's status codes, each with the HTTP status that stands for it (google.rpc.Code): what a gateway between the two
 * answers. A policy knows HTTP statuses only. `OK`, the code 0, is nobody's failure.
 */
export const GRPC_CODES: readonly (readonly [code: string, status: number])[] = [
  ['CANCELLED', 499],
  ['UNKNOWN', 500],
  ['INVALID_ARGUMENT', 400],
  ['DEADLINE_EXCEEDED', 504],
  ['NOT_FOUND', 404],
  ['ALREADY_EXISTS', 409],
  ['PERMISSION_DENIED', 403],
  ['RESOURCE_EXHAUSTED', 429],
  ['FAILED_PRECONDITION', 400],
  ['ABORTED', 409],
  ['OUT_OF_RANGE', 400],
  ['UNIMPLEMENTED', 501],
  ['INTERNAL', 500],
  ['UNAVAILABLE', 503],
  ['DATA_LOSS', 500],
  ['UNAUTHENTICATED', 401],
]

/** By its name in any case, or by its number. */
export function findCode(code: unknown): (typeof GRPC_CODES)[number] | undefined {
  if (typeof code === 'number') return GRPC_CODES[code - 1]
  return typeof code === 'string' ? GRPC_CODES.find(([name]) => name === code.toUpperCase()) : undefined
}
