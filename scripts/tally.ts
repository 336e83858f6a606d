export interface Tally {
  readonly passed: number
  readonly failed: number
}

/** The line with which a step reports its counts, and `npm test` ends. */
export function tallyLine({ passed, failed }: Tally): string {
  return `${passed} passed, ${failed} failed`
}

/** What a step came to: the last counts it printed, or one for the step itself. */
export function readTally(output: string, exitCode: number): Tally {
  const lines = [...output.matchAll(/^(\d+) passed, (\d+) failed$/gm)]
  const last = lines.at(-1)
  if (last === undefined) return exitCode === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }

  const [passed, failed] = [Number(last[1]), Number(last[2])]
  // A step can fail although each of its tests passed: an unhandled rejection, a crash on the way out.
  return { passed, failed: exitCode === 0 ? failed : Math.max(1, failed) }
}
