import type { FastifyReply } from 'fastify'
import type { Socket } from 'node:net'

type Tell = () => void

/** One listener for each socket, however many requests were sent ahead on it. */
const waiting = new WeakMap<Socket, Set<Tell>>()

/** Whether it still waits for the answer to an admitted request. */
export function isServing(socket: Socket): boolean {
  return (waiting.get(socket)?.size ?? 0) > 0
}

/**
 * Calls `tell` once, when the answer has been taken or its caller has gone. A response that waits behind another one on its
 * connection has no socket yet, so it gets no event when the caller goes: the socket is asked as well.
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
