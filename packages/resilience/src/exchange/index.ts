/** Policies of others, read and written: gRPC, Envoy, Istio. */
export { fromGrpcServiceConfig } from './from-grpc.ts'
export type { GrpcCall } from './grpc-call.ts'
export { toGrpcServiceConfig } from './to-grpc.ts'
export type {
  GrpcHedgingPolicy,
  GrpcMethodConfig,
  GrpcRetryPolicy,
  GrpcRetryThrottling,
  GrpcServiceConfig,
} from './to-grpc.ts'
export { fromEnvoy } from './from-envoy.ts'
export { toEnvoy } from './to-envoy.ts'
export type { EnvoyConfig, EnvoyRateLimitedBackOff, EnvoyRetryPolicy, EnvoyThresholds } from './to-envoy.ts'
export { fromIstio, toIstio, type IstioRoute } from './istio.ts'
export type { AnyPolicyInput } from './losses.ts'
export type { Exported, Imported, Loss } from './document.ts'
