import { StoreUnavailableError } from '../../stores/store.ts'

const NO_ROOM: readonly string[] = ['ENOSPC', 'EDQUOT']
const NOT_ALLOWED: readonly string[] = ['EROFS', 'EACCES', 'EPERM']
const IS_OF_DISK = /^E[A-Z]+$/

/** Reports trouble with the disk as the store reports its own, and does not say where the disk is. */
export async function sayingWhy<Result>(write: () => Promise<Result>): Promise<Result> {
  try {
    return await write()
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (NO_ROOM.includes(code))
      throw new StoreUnavailableError('store-full', 'there is no room left for bodies', {
        cause: error,
      })
    if (NOT_ALLOWED.includes(code))
      throw new StoreUnavailableError('store-read-only', `bodies cannot be written: ${code}`, {
        cause: error,
      })
    if (IS_OF_DISK.test(code))
      throw new StoreUnavailableError('store-unreachable', `bodies cannot be kept: ${code}`, {
        cause: error,
      })
    throw error
  }
}

/** The same for reading: every trouble may pass. */
export async function sayingWhyUnread<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!IS_OF_DISK.test(code)) throw error
    const message = `bodies cannot be read: ${code}`
    throw new StoreUnavailableError('store-unreachable', message, { cause: error })
  }
}
