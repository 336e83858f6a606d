import type { FastifyReply } from 'fastify'
import { comeBackAfter, Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { callerOf } from '../requests/caller.ts'
import { holderOf } from '../requests/holder.ts'
import { Parts } from '../requests/parts.ts'
import { whenTaken } from '../requests/when-taken.ts'

const FULL_WAIT_MS = 1_000

/**
 * Bounds how many bodies are being read, from when one is asked for until it has been taken or its caller has gone: each
 * keeps a file open, and deliveries need descriptors, too. They are shared as slots are.
 */
export class BodyReads {
  readonly #parts: Parts
  readonly #refuse: () => Refusal

  constructor({ limits: { bodyReads }, random }: Pick<ApiContext, 'limits' | 'random'>) {
    this.#parts = new Parts(bodyReads)
    this.#refuse = () =>
      new Refusal('too-many-lists', {
        detail: `${bodyReads} bodies may be read at once, and by one tenant no more than leave some for others. Take those that you have asked for.`,
        headers: comeBackAfter(FULL_WAIT_MS, random()),
      })
  }

  async during<Result>(reply: FastifyReply, open: () => Promise<Result>): Promise<Result> {
    const reader = holderOf(callerOf(reply.request))
    if (!this.#parts.hasRoom(reader, 1)) throw this.#refuse()
    this.#parts.take(reader, 1)
    try {
      return await open()
    } finally {
      // Not before: whoever goes while its body is looked through leaves a file open behind it.
      whenTaken(reply, () => this.#parts.giveBack(reader, 1))
    }
  }
}
