import type { FastifyReply } from 'fastify'
import type { Socket } from 'node:net'

type Tell = () => void

/** One ear for each socket, however many requests were sent ahead on it. */
const waiting = new WeakMap<Socket, Set<Tell>>()

/** Whether answers are still to be taken from it. */
export function isServing(socket: Socket): boolean {
  return (waiting.get(socket)?.size ?? 0) > 0
}

/**
 * Tells once, when an answer has been taken or nobody is there to take it. Behind another answer that is still to come a
 * response has no socket yet, and does not hear that it is gone.
 */
export function whenTaken({ raw, request }: FastifyReply, tell: Tell): void {
  const { socket } = request.raw
  if (socket.destroyed) return tell()
  let tells = waiting.get(socket)
  if (tells === undefined) {
    const all = new Set<Tell>()
    waiting.set(socket, (tells = all))
    socket.once('close', () => all.forEach(each => each()))
  }
  const all = tells
  const once = (): void => {
    if (all.delete(once)) tell()
  }
  all.add(once)
  raw.once('close', once)
}
