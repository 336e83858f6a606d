import type { Caller } from '../../access/caller.ts'
import { EVERY_TENANT } from '../../task/lane.ts'

/** Whoever showed no key, or none that is good. No tenant has this name. */
export const NOBODY = ''

/**
 * In whose part it counts what somebody asks for: operators have one together. What the framework refuses by itself, an
 * address that it cannot read for example, was asked for before anybody could say by whom.
 */
export function holderOf(caller: Pick<Caller, 'tenant' | 'isOperator'> | null | undefined): string {
  if (!caller) return NOBODY
  return caller.isOperator ? EVERY_TENANT : caller.tenant
}

export function isTenant(holder: string): boolean {
  return holder !== NOBODY && holder !== EVERY_TENANT
}
