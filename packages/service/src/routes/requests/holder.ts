import type { Caller } from '../../access/caller.ts'
import { EVERY_TENANT } from '../../task/lane.ts'

/** Whoever showed no key, or none that is good. No tenant has this name. */
export const NOBODY = ''

/** In whose part it counts what somebody asks for: operators have one together. */
export function holderOf(caller: Pick<Caller, 'tenant' | 'isOperator'> | null): string {
  if (caller === null) return NOBODY
  return caller.isOperator ? EVERY_TENANT : caller.tenant
}

export function isTenant(holder: string): boolean {
  return holder !== NOBODY && holder !== EVERY_TENANT
}
