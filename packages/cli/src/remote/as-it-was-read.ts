import { ServiceError } from '@secondwind/client'

/**
 * Acts on what was read a moment ago, and on nothing else: `act` names its version. Where somebody else was quicker, `tell`
 * looks at what has become of it and throws what is to be said; what it cannot tell is thrown as it came.
 */
export async function asItWasRead<Answer>(act: () => Promise<Answer>, tell: () => Promise<void>): Promise<Answer> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof ServiceError && QUICKER.includes(error.code)) await tell()
    throw error
  }
}

/** Before the service looked, or at the same moment. */
const QUICKER: readonly ServiceError['code'][] = ['version-changed', 'write-conflict']
