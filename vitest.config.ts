import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

// A zone that nobody guesses right: what is read as local time by mistake is wrong by hours and minutes.
process.env['TZ'] = 'Asia/Kathmandu'

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
    // A limit for what hangs, not for what is slow: a busy machine may take its time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default', './scripts/vitest-reporter.ts'],
  },
})
