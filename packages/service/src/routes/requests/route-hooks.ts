import type {
  FastifyInstance,
  onRequestHookHandler,
  preHandlerHookHandler,
  preSerializationHookHandler,
  preValidationHookHandler,
  RouteOptions,
} from 'fastify'

export interface RouteHooks {
  readonly onRequest?: onRequestHookHandler
  readonly preValidation?: preValidationHookHandler
  readonly preHandler?: preHandlerHookHandler
  readonly preSerialization?: preSerializationHookHandler
}

const HOOKS = ['onRequest', 'preValidation', 'preHandler', 'preSerialization'] as const

const added = new WeakSet<object>()

/**
 * Adds to each route that follows what it needs, by what is said of it where it is described: a hook that is there for all of
 * them costs every request, and finds out each time anew that it has nothing to do. They come before those that a route has
 * of its own, which nobody has let in yet.
 */
export function addRouteHooks(api: FastifyInstance, hooksFor: (route: RouteOptions) => RouteHooks): void {
  api.addHook('onRoute', route => {
    const hooks = hooksFor(route)
    for (const name of HOOKS) {
      const hook = hooks[name]
      if (hook === undefined) continue
      const there = [route[name] ?? []].flat()
      const before = there.filter(each => added.has(each))
      Object.assign(route, { [name]: [...before, hook, ...there.slice(before.length)] })
      added.add(hook)
    }
  })
}
