import { defineConfig } from 'vitest/config'
import repository from '../vitest.config.ts'

export default defineConfig({
  ...repository,
  test: {
    // The tests beside the rules. Those of the layers above open sockets, collect garbage and take their time; a rule
    // that only they hold is not held well enough.
    include: [
      'packages/resilience/src/{retry,breaker,budget,classify,window}/*.test.ts',
      'packages/resilience/src/{bulkhead,deadline,tokens,hedge,kill-switch,latency,limiter,middleware,rate-limit,replicas,throttle,timeout,wire}/{decide,vectors,pushback,adaptive,overload}.test.ts',
      'packages/resilience/src/database/{classify,vectors}.test.ts',
    ],
    setupFiles: ['mutation/vitest.setup.ts'],
    reporters: [],
  },
})
