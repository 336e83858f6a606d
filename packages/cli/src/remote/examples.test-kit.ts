import type { Command } from '../command.ts'
import { CONNECTION_OPTIONS } from './connection.ts'

/** It talks to a running service; its examples need one. */
export function isRemote({ options = [] }: Command): boolean {
  return CONNECTION_OPTIONS.every(option => options.includes(option))
}
