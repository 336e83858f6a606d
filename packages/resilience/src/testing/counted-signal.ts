/** An abort controller that knows who still listens to its signal. */
export interface CountedController {
  readonly controller: AbortController
  /** Abort listeners that were added and neither removed nor used up. */
  listeners(): number
}

type Listener = Parameters<AbortSignal['addEventListener']>[1]

interface Registration {
  readonly listener: Listener
  readonly capture: boolean
  readonly once: boolean
  /** Aborted, it takes the listener away. */
  readonly until: AbortSignal | undefined
}

/** The signal is a real one; it only writes down what is asked of it. */
export function countedController(): CountedController {
  const controller = new AbortController()
  const { signal } = controller
  let registrations: Registration[] = []
  const others = (listener: unknown, capture: boolean): Registration[] =>
    registrations.filter(known => known.listener !== listener || known.capture !== capture)
  let onabort: AbortSignal['onabort'] = null
  signal.addEventListener('abort', event => {
    // Ours is the first to hear: from now on those who asked for one event have had it.
    registrations = registrations.filter(({ once }) => !once)
    onabort?.call(signal, event)
  })
  // Kept here, because some runtimes make a listener of it and some do not.
  Object.defineProperty(signal, 'onabort', {
    get: () => onabort,
    set(value) {
      onabort = value
    },
  })

  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (type: string, listener: Listener, options?: boolean | AddEventListenerOptions): void => {
    add(type, listener, options)
    const { capture = false, once = false, signal: until } = optionsOf(options)
    if (type !== 'abort' || listener === null || until?.aborted) return
    // Added twice it is called once, as it was asked for the first time.
    if (others(listener, capture).length === registrations.length)
      registrations.push({ listener, capture, once, until })
  }
  signal.removeEventListener = (type: string, listener: Listener, options?: boolean | EventListenerOptions): void => {
    remove(type, listener, options)
    if (type === 'abort') registrations = others(listener, optionsOf(options).capture ?? false)
  }

  const listeners = (): number =>
    registrations.filter(({ until }) => !until?.aborted).length + (onabort === null ? 0 : 1)
  return { controller, listeners }
}

function optionsOf(options: boolean | AddEventListenerOptions | undefined): AddEventListenerOptions {
  return typeof options === 'boolean' ? { capture: options } : (options ?? {})
}
