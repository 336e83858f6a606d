import type { ApiLimits } from '../context.ts'

/** A body in base64 is a third longer; all other fields fit into this. */
const ROOM_FOR_OTHERS = 65_536

/** Of one task as it arrives, alone or in a batch. */
export function taskBytes({ bodyBytes }: Pick<ApiLimits, 'bodyBytes'>): number {
  return Math.ceil((bodyBytes * 4) / 3) + ROOM_FOR_OTHERS
}
