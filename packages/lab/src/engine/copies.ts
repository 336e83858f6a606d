import type { Core } from './core.ts'
import { CALL, SIBLING, WIDTH } from './rows.ts'

/** Takes one call out of those that an operation has under way. There are few: a list is walked through. */
export function unlinkCopy({ calls, operations }: Core, row: number, call: number): void {
  const next = calls.data[call * WIDTH + SIBLING]!
  let other = operations.data[row + CALL]!
  if (other === call) {
    operations.data[row + CALL] = next
    return
  }
  while (calls.data[other * WIDTH + SIBLING]! !== call) other = calls.data[other * WIDTH + SIBLING]!
  calls.data[other * WIDTH + SIBLING] = next
}
