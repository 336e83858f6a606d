import type { Random } from '@secondwind/resilience'
import { comeBackAfter, Refusal } from '../answers/refusal.ts'

/** The sweep of bodies runs every ten minutes: a caller that asks often learns it soon, and costs little. */
const FULL_WAIT_MS = 10_000

const FULL =
  'The large bodies of this tenant have as many bytes together as it can keep. A body is removed a week after the deadline of its last task, and an upload without a task after a day.'

export function bodiesFull(random: Random): Refusal {
  return new Refusal('bodies-full', { detail: FULL, headers: comeBackAfter(FULL_WAIT_MS, random()) })
}

export function sayUnknownBody(bodyRef: string): string {
  return `There is no body ${bodyRef}: upload it first.`
}
