/**
 * Where the runtime carries a context along with asynchronous calls (`AsyncLocalStorage`), what follows a wait must
 * find that of its own operation. One timer serves all waits, and would bring the context of whoever set it: another
 * request's user, perhaps.
 *
 * Asked for by name and not imported, for browsers have neither. Node before 20.16 cannot be asked: contexts end at
 * the first wait there.
 */
export interface Context {
  runInAsyncScope<R>(call: () => R): R
}

interface Runtime {
  readonly process?: {
    readonly getBuiltinModule?: (name: string) => { readonly AsyncResource?: new (type: string) => Context } | undefined
  }
}

const AsyncResource = /* @__PURE__ */ (globalThis as Runtime).process?.getBuiltinModule?.(
  'node:async_hooks',
)?.AsyncResource

/** The context of whoever calls, to go on in later. */
export function presentContext(): Context | undefined {
  return AsyncResource && new AsyncResource('secondwind')
}

const nobodys = /* @__PURE__ */ presentContext()

/** In `context`, or in the one in which the library was loaded: usually nobody's, and never that of a later request. */
export function runIn<R>(context: Context | undefined, call: () => R): R {
  const where = context ?? nobodys
  return where === undefined ? call() : where.runInAsyncScope(call)
}
