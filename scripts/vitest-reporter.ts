import type { Reporter, TestModule, TestSpecification } from 'vitest/node'
import { ASKS_FOR_PROGRESS, progressLine } from './progress.ts'
import { tallyLine } from './tally.ts'

/**
 * Ends a run with the counts `npm test` reads, and says before how far it is. What failed outside of a test counts as a
 * failed one.
 */
export default class TallyReporter implements Reporter {
  readonly #asksForProgress = process.env[ASKS_FOR_PROGRESS] !== undefined
  readonly #running = new Set<string>()
  readonly #done = new Set<string>()
  #total = 0

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#total = specifications.length
  }

  onTestModuleQueued({ relativeModuleId }: TestModule): void {
    this.#running.add(relativeModuleId)
    this.#sayProgress()
  }

  onTestModuleEnd({ relativeModuleId }: TestModule): void {
    this.#running.delete(relativeModuleId)
    this.#done.add(relativeModuleId)
    this.#sayProgress()
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const tests = modules.flatMap(module => [...module.children.allTests()])
    const passed = tests.filter(test => test.result().state === 'passed').length
    const failed = tests.filter(test => test.result().state === 'failed').length
    const failedSuites = modules
      .flatMap(module => [module, ...module.children.allSuites()])
      .filter(suite => suite.errors().length > 0).length
    console.log(tallyLine({ passed, failed: failed + failedSuites + unhandledErrors.length }))
  }

  #sayProgress(): void {
    if (!this.#asksForProgress) return
    console.log(progressLine({ done: this.#done.size, total: this.#total, running: [...this.#running] }))
  }
}
