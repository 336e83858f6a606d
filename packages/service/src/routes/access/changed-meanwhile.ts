import { Refusal } from '../answers/refusal.ts'

export function changedMeanwhile(what: 'key' | 'secret'): Refusal {
  return new Refusal('write-conflict', { detail: `Somebody else changed this ${what} at the same moment: look again.` })
}
