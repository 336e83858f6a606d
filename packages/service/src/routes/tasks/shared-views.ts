import { nextTurn } from '@secondwind/resilience'
import type { Dispatching, LaneView } from '../../task/lane-view.ts'

/**
 * What is said of a lane holds for the whole turn of the event loop. The thousand tasks of a list are mostly of a few lanes, and one
 * lane may have a queue for each policy, kind and rank: it is looked at once, and not for each task.
 */
export function sharingViews(dispatching: Dispatching): Dispatching {
  const views = new Map<string, LaneView | undefined>()
  return {
    view: lane => {
      const known = views.get(lane)
      if (known !== undefined || views.has(lane)) return known
      if (views.size === 0) nextTurn(() => views.clear())
      const view = dispatching.view(lane)
      views.set(lane, view)
      return view
    },
    cut: taskId => dispatching.cut(taskId),
  }
}
