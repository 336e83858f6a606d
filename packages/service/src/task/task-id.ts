/** So many random bytes go into a task's id. */
export const TASK_ID_BYTES = 9

/** Every byte in two digits: an id is made for every task that comes in. */
const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/**
 * A UUIDv7 (RFC 9562 §5.7) whose last byte is the lane's partition: whoever has the id knows where to ask, and ids made
 * one after another lie side by side in an index.
 */
export function taskIdOf(now: number, partition: number, random: Uint8Array): string {
  const time = Math.max(0, Math.floor(now)).toString(16).padStart(12, '0').slice(-12)
  const hex = (at: number): string => HEX[random[at]!]!
  const version = HEX[0x70 | (random[0]! & 0x0f)]! + hex(1)
  const variant = HEX[0x80 | (random[2]! & 0x3f)]! + hex(3)
  const tail = hex(4) + hex(5) + hex(6) + hex(7) + hex(8) + HEX[partition]!
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${variant}-${tail}`
}

const TASK_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

export function isTaskId(text: string): boolean {
  return TASK_ID.test(text)
}

export function partitionOfTask(taskId: string): number {
  return Number.parseInt(taskId.slice(-2), 16)
}
