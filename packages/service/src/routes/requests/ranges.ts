import type { Problem } from '@secondwind/resilience'
import type { TaskFilter } from '../../stores/task-store.ts'

/** Spans of time that nothing can be in, though each end be an instant. */
export function problemsOfRanges(
  filter: Pick<TaskFilter, 'createdFrom' | 'createdTo' | 'endedFrom' | 'endedTo'>,
): Problem[] {
  const { createdFrom = 0, createdTo = Infinity, endedFrom = 0, endedTo = Infinity } = filter
  return [
    ...(createdFrom < createdTo ? [] : [{ at: 'createdFrom', is: createdFrom, say: 'must be earlier than createdTo' }]),
    ...(endedFrom < endedTo ? [] : [{ at: 'endedFrom', is: endedFrom, say: 'must be earlier than endedTo' }]),
  ]
}
