import type { Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { Parts } from '../requests/parts.ts'
import { refusalOfFull } from '../tasks/enqueued.ts'

/**
 * Bounds the bytes that are on their way in, from when they are announced until they are kept or refused: what is not
 * whole counts nowhere else, and would fill the disk. They are shared as slots are.
 */
export class Uploads {
  readonly #parts: Parts
  readonly #refuse: () => Refusal

  constructor({ limits, random }: Pick<ApiContext, 'limits' | 'random'>) {
    this.#parts = new Parts(limits.arrivingBytes)
    this.#refuse = () => refusalOfFull(random, 'As many bytes of large bodies are on their way as may be at once.')
  }

  async during<Result>(tenant: string, bytes: number, receive: () => Promise<Result>): Promise<Result> {
    if (!this.#parts.hasRoom(tenant, bytes)) throw this.#refuse()
    this.#parts.take(tenant, bytes)
    try {
      return await receive()
    } finally {
      this.#parts.giveBack(tenant, bytes)
    }
  }
}
