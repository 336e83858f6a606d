import { statSync } from 'node:fs'

/** A file as the system knows it. While it is open no other can have its number, whatever becomes of its name. */
export interface FileIdentity {
  readonly path: string
  readonly device: bigint
  readonly number: bigint
}

/** The files that a store has open for as long as it is. */
export interface OpenedFiles {
  readonly data: FileIdentity
  readonly lock: FileIdentity
}

export function identify(path: string): FileIdentity {
  const { dev, ino } = statSync(path, { bigint: true })
  return { path, device: dev, number: ino }
}

/** Whether the file still stands where it was opened. */
export function isInPlace({ path, device, number }: FileIdentity): boolean {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return dev === device && ino === number
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // A directory that may not be looked into at the moment says nothing about what is in it.
    return code !== 'ENOENT' && code !== 'ENOTDIR'
  }
}
