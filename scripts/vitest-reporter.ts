import type { Reporter, TestModule } from 'vitest/node'
import { tallyLine } from './tally.ts'

/** Ends a run with the counts `npm test` reads. What failed outside of a test counts as a failed one. */
export default class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const tests = modules.flatMap(module => [...module.children.allTests()])
    const passed = tests.filter(test => test.result().state === 'passed').length
    const failed = tests.filter(test => test.result().state === 'failed').length
    const failedSuites = modules
      .flatMap(module => [module, ...module.children.allSuites()])
      .filter(suite => suite.errors().length > 0).length
    console.log(tallyLine({ passed, failed: failed + failedSuites + unhandledErrors.length }))
  }
}
