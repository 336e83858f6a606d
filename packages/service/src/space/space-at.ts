import { statfs } from 'node:fs/promises'
import { mostLogBytes } from '../stores/sqlite/file/log-length.ts'
import { lackingOn, type Purpose, type Space } from '../task/disk-reserve.ts'

export async function spaceAt(directory: string): Promise<Space> {
  const { bsize, blocks, bavail } = await statfs(directory)
  return { allBytes: blocks * bsize, freeBytes: bavail * bsize }
}

/**
 * The same beside a data file. Its log grows by what an idle service writes, too, until it is moved, and what lies in it is written
 * once more then, into the file: so much is as good as taken, however long the log is now.
 */
export async function spaceBeside(data: string): Promise<Space> {
  const { allBytes, freeBytes } = await spaceAt(data)
  return { allBytes, freeBytes: freeBytes - mostLogBytes(allBytes) }
}

/** What a disk has, and the gravest that a service which keeps its data there would have no room for. */
export interface Room extends Space {
  readonly lacking?: Purpose
}

export async function roomBeside(data: string): Promise<Room> {
  const lacking = lackingOn(await spaceBeside(data))
  return { ...(await spaceAt(data)), ...(lacking && { lacking }) }
}
