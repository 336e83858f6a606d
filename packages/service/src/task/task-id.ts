/** So many random bytes go into a task's id. */
export const TASK_ID_BYTES = 9

/**
 * A UUIDv7 (RFC 9562 §5.7) whose last byte is the lane's partition: whoever has the id knows where to ask, and ids made
 * one after another lie side by side in an index.
 */
export function taskIdOf(now: number, partition: number, random: Uint8Array): string {
  const time = Math.max(0, Math.floor(now)).toString(16).padStart(12, '0').slice(-12)
  const [a, b, c, ...rest] = random
  const version = 0x7000 | (((a! << 8) | b!) & 0x0fff)
  const variant = 0x80 | (c! & 0x3f)
  const tail = [variant, ...rest.slice(0, 6), partition].map(hexByte).join('')
  return `${time.slice(0, 8)}-${time.slice(8)}-${version.toString(16)}-${tail.slice(0, 4)}-${tail.slice(4)}`
}

const TASK_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

export function isTaskId(text: string): boolean {
  return TASK_ID.test(text)
}

export function partitionOfTask(taskId: string): number {
  return Number.parseInt(taskId.slice(-2), 16)
}

function hexByte(byte: number): string {
  return byte.toString(16).padStart(2, '0')
}
