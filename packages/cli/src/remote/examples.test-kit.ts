import { join } from 'node:path'
import type { Command } from '../command.ts'
import { CONNECTION_OPTIONS } from './connection.ts'

/** It talks to a running service; its examples need one. */
export function isRemote({ options = [] }: Command): boolean {
  return CONNECTION_OPTIONS.every(option => options.includes(option))
}

/** A file that an example writes stands in a folder of the test, whatever folder the tests are run in. */
export function placedIn(folder: string, word: string): string {
  return /\.(?:key|secret)$/.test(word) ? join(folder, word) : word
}
