import { fileURLToPath } from 'node:url'
import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

// A zone that nobody guesses right: what is read as local time by mistake is wrong by hours and minutes.
process.env['TZ'] = 'Asia/Kathmandu'

// Threads and programs that tests start are sources, too. Node takes the types out of each by WebAssembly, in every thread anew, and
// where threads come and go by the hundred that costs minutes, and now and then the process (V8 frees code that another thread
// still has). So it is done once, and kept.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('node_modules/.cache/node', import.meta.url))

// Tests run on the source of every package, never on what was built last.
const conditions = ['@secondwind/source', ...defaultServerConditions]

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'scripts/**/*.test.ts',
      'docs/recipes/**/*.test.ts',
      'examples/**/*.test.ts',
    ],
    // One less than there are cores, unless told: but most tests wait for a process, a disk or a clock, and leave theirs idle.
    maxWorkers: '100%',
    // A limit for what hangs, not for what is slow: a busy machine may take its time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default', './scripts/vitest-reporter.ts'],
  },
})
