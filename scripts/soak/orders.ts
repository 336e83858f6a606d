/** The tasks of a run: what each one sends, and what the sink answers to it. The seed and the task's number say all of it. */
import assert from 'node:assert/strict'
import { seededRandom } from '@secondwind/resilience/testing'
import { MOST_TASKS } from './options.ts'

/** `silence` never answers; `reset` closes the connection instead. */
export type Answer = 'success' | 'unavailable' | 'reset' | 'silence' | 'refusal'

export interface Step {
  readonly answer: Answer
  readonly afterMs: number
}

/** The answers that the sink gives one after another; the last one is repeated. */
export type Script = readonly Step[]

/** More than any script fails and any task is killed; a task that always fails uses all of them. */
export const MAX_ATTEMPTS = 12

/** Longer than any answer takes on a busy machine; `silence` costs this much of a slot. */
export const ATTEMPT_TIMEOUT_MS = 5_000

/** Waits so short that a task ends within seconds, and a deadline that no task reaches. */
const POLICY = {
  maxAttempts: MAX_ATTEMPTS,
  initialDelayMs: 20,
  multiplier: 2,
  maxDelayMs: 500,
  totalBudgetMs: 3_600_000,
  attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
}

export function keyOf(seed: number, number: number): string {
  return `soak-${seed}-${number}`
}

/** Some bodies are larger than a row takes (64 KiB), so that they lie in files of their own. */
export function bodyOf(seed: number, number: number): string {
  const length = number % LARGE_BODY_EVERY === 0 ? LARGE_BODY_CHARACTERS : 40 + (number % 400)
  return `${keyOf(seed, number)} `.repeat(Math.ceil(length / 12)).slice(0, length)
}

const LARGE_BODY_EVERY = 100
const LARGE_BODY_CHARACTERS = 70_000

export function orderOf(seed: number, number: number, sinkUrl: string) {
  return {
    targetUrl: `${sinkUrl}/${number}`,
    method: 'POST',
    body: bodyOf(seed, number),
    idempotencyKey: keyOf(seed, number),
    policy: POLICY,
  }
}

export function scriptOf(seed: number, number: number): Script {
  const random = seededRandom(seed * MOST_TASKS + number)
  const step = (answer: Answer): Step => ({
    answer,
    afterMs: random() < SLOW_SHARE ? random() * SLOW_MS : random() * FAST_MS,
  })
  const draw = random()
  if (draw < 0.01) return [step('refusal')]
  if (draw < 0.015) return [step('unavailable')]
  if (draw < 0.018) return [step('silence'), step('success')]
  const failures = draw < 0.2 ? 1 + Math.floor(random() * MOST_FAILURES) : 0
  const failed = Array.from({ length: failures }, () => step(random() < 0.6 ? 'unavailable' : 'reset'))
  return [...failed, step('success')]
}

const MOST_FAILURES = 3
const FAST_MS = 20
const SLOW_SHARE = 0.05
const SLOW_MS = 800

/** The answer to a task's nth request; the first is 1. */
export function stepOf(script: Script, request: number): Step {
  const step = script[Math.min(request, script.length) - 1]
  assert.ok(step, 'every script has an answer')
  return step
}
