/** So many tasks, one after another, are a block, and share a row of `span`. */
export const BLOCK_TASKS = 1_024

export function blockOf(seq: number): number {
  return Math.floor(seq / BLOCK_TASKS)
}
