/** `@secondwind/resilience/testing`: time, chance, servers and faults that a test has in its own hands. */
export { TestingError } from './errors.ts'
export { faults, type FaultOptions } from './faults.ts'
export { expectNoLeaks, leakCheck, type LeakCheck, type LeakCheckOptions } from './leak-check.ts'
export type { RecordedRequest, ScriptedAnswer, ScriptEntry } from './script.ts'
export type { Fetch } from './scripted-fetch.ts'
export {
  scriptedServer,
  type ListeningServer,
  type ScriptedServer,
  type ScriptedServerOptions,
} from './scripted-server.ts'
export { seededRandom } from './seeded-random.ts'
export { virtualClock, type RingOptions, type VirtualClock, type VirtualClockOptions } from './virtual-clock.ts'
