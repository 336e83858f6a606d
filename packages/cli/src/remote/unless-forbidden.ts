import { ServiceError } from '@secondwind/client'

/** What is read beside an order, or undefined for a key that may order and not read: the order does not fail for it. */
export async function unlessForbidden<Value>(read: Promise<Value>): Promise<Value | undefined> {
  try {
    return await read
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'scope-missing') return undefined
    throw error
  }
}
