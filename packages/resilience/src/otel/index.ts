/** `@secondwind/resilience/otel`: what happens, as spans of OpenTelemetry. Needs `@opentelemetry/api`. */
export { instrument, type InstrumentOptions } from './instrument.ts'
