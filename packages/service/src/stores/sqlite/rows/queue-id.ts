/** Queues that a partition can have. */
const PARTITION_SPAN = 2 ** 32

/**
 * The first number for queues of a partition, and the first behind it: all its waiting queues lie between the two, and
 * listing them is going from one to the next.
 */
export function queueIdsOf(partition: number): readonly [first: number, behind: number] {
  return [partition * PARTITION_SPAN, (partition + 1) * PARTITION_SPAN]
}
