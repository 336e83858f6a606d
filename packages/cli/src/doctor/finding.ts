/** One thing that was looked at: how it is, and what to do about it. */
export interface Finding {
  /** What was looked at, in a word or two. */
  readonly check: string
  readonly level: Level
  /** What was found, as a sentence. */
  readonly say: string
  /** What to do about it; it works when pasted, where it is a command. */
  readonly next?: string
}

/** `skipped`: it was not looked at, which is no good news and no bad. */
export type Level = 'skipped' | 'ok' | 'warn' | 'bad'

export const ok = (check: string, say: string): Finding => ({ check, level: 'ok', say })
export const skipped = (check: string, say: string): Finding => ({ check, level: 'skipped', say })
export const warn = (check: string, say: string, next: string): Finding => ({ check, level: 'warn', say, next })
export const bad = (check: string, say: string, next: string): Finding => ({ check, level: 'bad', say, next })

const LEVELS: readonly Level[] = ['skipped', 'ok', 'warn', 'bad']

export function worstOf(findings: readonly Finding[]): Level {
  return LEVELS.findLast(level => findings.some(finding => finding.level === level)) ?? 'ok'
}
