/** So many random bytes go into a task's id. */
export const TASK_ID_BYTES = 9

const DASH = 0x2d
const DIGITS: readonly number[] = Array.from('0123456789abcdef', digit => digit.charCodeAt(0))

/** The codes of an id, filled anew for each: put together of pieces of text it would cost three times as much. */
const codes: number[] = Array.from({ length: 36 }, () => DASH)

/**
 * A UUIDv7 (RFC 9562 §5.7) whose last byte is the lane's partition: whoever has the id knows where to ask, and ids made
 * one after another lie side by side in an index.
 */
export function taskIdOf(now: number, partition: number, random: Uint8Array): string {
  const time = Math.max(0, Math.floor(now))
  writeWord(0, Math.floor(time / 2 ** 32))
  writeWord(4, Math.floor(time / 2 ** 16))
  writeWord(9, time)
  writeByte(14, 0x70 | (random[0]! & 0x0f))
  writeByte(16, random[1]!)
  writeByte(19, 0x80 | (random[2]! & 0x3f))
  writeByte(21, random[3]!)
  for (let at = 4; at < TASK_ID_BYTES; at++) writeByte(16 + 2 * at, random[at]!)
  writeByte(34, partition)
  return String.fromCharCode(...codes)
}

/** The last sixteen bits. */
function writeWord(at: number, word: number): void {
  writeByte(at, (word >>> 8) & 0xff)
  writeByte(at + 2, word & 0xff)
}

function writeByte(at: number, byte: number): void {
  codes[at] = DIGITS[byte >> 4]!
  codes[at + 1] = DIGITS[byte & 0x0f]!
}

const TASK_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

export function isTaskId(text: string): boolean {
  return TASK_ID.test(text)
}

export function partitionOfTask(taskId: string): number {
  return Number.parseInt(taskId.slice(-2), 16)
}
