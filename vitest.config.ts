import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

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
    reporters: ['default', './scripts/vitest-reporter.ts'],
  },
})
