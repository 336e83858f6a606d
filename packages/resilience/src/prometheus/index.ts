/** `@secondwind/resilience/prometheus`: what happens, in numbers that Prometheus can scrape. */
export { createCollector, type Collector, type CollectorOptions } from './collector.ts'
export type { Watched } from './gauges.ts'
