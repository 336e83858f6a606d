/** A run in words. */
import type { Audit } from './audit.ts'
import type { Ledger } from './ledger.ts'
import type { Options } from './options.ts'

interface Run {
  readonly options: Options
  readonly ledger: Ledger
  readonly early: number
  readonly elapsedMs: number
  readonly audits: readonly Audit[]
  /** What the service has counted otherwise. */
  readonly counters: readonly string[]
}

/** A service that is broken is broken in many tasks: the ledger's file has all that was seen. */
const MOST_SHOWN = 40

export function violationsOf({ ledger, audits, counters }: Run): string[] {
  return [...ledger.violations, ...audits.flatMap(({ violations }) => violations), ...counters]
}

export function reportOf(run: Run): string {
  const { options, ledger, early, elapsedMs, audits } = run
  const { counts } = ledger
  const ends = [...ledger.tasks.values()].map(({ settled }) => settled?.status)
  const count = (status: string): string => say(ends.filter(end => end === status).length)
  const sum = (of: (audit: Audit) => number): number => audits.reduce((total, audit) => total + of(audit), 0)
  const unexplained = audits
    .filter(({ violations }) => violations.length > 0)
    .reduce((total, { duplicates }) => total + duplicates, 0)
  const requests = [...ledger.tasks.values()].reduce((total, task) => total + task.requests.length, 0)
  const violations = violationsOf(run)
  return [
    `seed ${options.seed}, ${(elapsedMs / 1_000).toFixed(0)} s`,
    `kills       ${say(ledger.lives.filter(({ killedAt }) => killedAt !== undefined).length)} of ${say(options.killCount)}, ${say(early)} of them before the service listened`,
    `accepted    ${say(counts.accepted)} of ${say(options.taskCount)}; ${say(counts.unanswered)} submissions got no answer, ${say(counts.refused)} were refused for now, ${say(counts.existing)} met their own task`,
    `ended       ${count('SUCCEEDED')} SUCCEEDED, ${count('EXHAUSTED')} EXHAUSTED`,
    `requests    ${say(requests)} at the sink; ${say(sum(({ lost }) => lost))} attempts lost, ${say(sum(({ unsent }) => unsent))} of them before the sink saw them`,
    `duplicates  ${say(sum(({ duplicates }) => duplicates) - unexplained)} explained by a kill, at most ${say(Math.max(0, ...audits.map(({ unsettledMs }) => unsettledMs)))} ms after the sink's answer; ${say(unexplained)} unexplained`,
    `violations  ${say(violations.length)}`,
    ...violations.slice(0, MOST_SHOWN).map(violation => `  ${violation}`),
    ...(violations.length > MOST_SHOWN ? [`  and ${say(violations.length - MOST_SHOWN)} more`] : []),
  ].join('\n')
}

function say(count: number): string {
  return count.toLocaleString('en')
}
