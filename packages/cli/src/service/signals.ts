/** Resolves with the first signal that asks the program to end. A second one is impatience: the program ends at once. */
export function untilAskedToEnd(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    let isAsked = false
    const ask = (signal: NodeJS.Signals): void => {
      if (isAsked) process.exit(signal === 'SIGINT' ? INTERRUPTED : TERMINATED)
      isAsked = true
      resolve(signal)
    }
    process.on('SIGINT', ask)
    process.on('SIGTERM', ask)
  })
}

/** As a shell would report it: 128 and the number of the signal. */
const INTERRUPTED = 130
const TERMINATED = 143
