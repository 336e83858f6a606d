import { nextLane, takeSlot, type Shares } from './share.ts'

/** Gives every slot that may be given, or so many; returns to whom, in order. */
export function fill<Lane>(shares: Shares<Lane>, most = Infinity): Lane[] {
  const served: Lane[] = []
  for (let next = nextLane(shares); next !== undefined && served.length < most; next = nextLane(shares)) {
    takeSlot(shares, next)
    served.push(next.lane)
  }
  return served
}
