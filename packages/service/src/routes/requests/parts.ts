import { shares } from '@secondwind/resilience/rules'

/** How much each holder has of something shared. A holder takes no more than nine times the part that is then free. */
export class Parts {
  readonly #all: number
  readonly #parts = new Map<string, number>()
  #taken = 0

  constructor(all: number) {
    this.#all = all
  }

  of(holder: string): number {
    return this.#parts.get(holder) ?? 0
  }

  hasRoom(holder: string, count: number): boolean {
    return shares.mostFor({ free: this.#all - this.#taken, ofTenant: this.of(holder), ofLane: 0 }) >= count
  }

  take(holder: string, count: number): void {
    this.#taken += count
    this.#parts.set(holder, this.of(holder) + count)
  }

  giveBack(holder: string, count: number): void {
    const own = this.of(holder) - count
    this.#taken -= count
    if (own === 0) this.#parts.delete(holder)
    else this.#parts.set(holder, own)
  }
}
