import type { FastifyInstance, onRequestHookHandler, RouteOptions } from 'fastify'

const added = new WeakSet<object>()

/**
 * Gives each route that follows the hook that it needs, by its description: one hook for all routes would find out with every
 * request that it has nothing to do. Hooks run in the order in which they were added, before those of the route itself.
 */
export function addRouteHooks(
  api: FastifyInstance,
  hookFor: (route: RouteOptions) => onRequestHookHandler | undefined,
): void {
  api.addHook('onRoute', route => {
    const hook = hookFor(route)
    if (hook === undefined) return
    const there = [route.onRequest ?? []].flat()
    const before = there.filter(each => added.has(each))
    route.onRequest = [...before, hook, ...there.slice(before.length)]
    added.add(hook)
  })
}
