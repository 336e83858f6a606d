import { EXIT_CODES } from '../exit-codes.ts'

/** Resolves with the first signal that asks the program to end. A second one is impatience: the program ends at once. */
export function untilAskedToEnd(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    let isAsked = false
    const ask = (signal: NodeJS.Signals): void => {
      if (isAsked) process.exit(signal === 'SIGINT' ? EXIT_CODES.interrupted : TERMINATED)
      isAsked = true
      resolve(signal)
    }
    process.on('SIGINT', ask)
    process.on('SIGTERM', ask)
  })
}

/** As a shell would report it: 128 and the number of the signal. */
const TERMINATED = 143
