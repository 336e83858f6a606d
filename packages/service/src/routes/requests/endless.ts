import type { FastifyReply } from 'fastify'
import type { Socket } from 'node:net'
import { whenTaken } from './when-taken.ts'

const endless = new WeakSet<Socket>()

/** Its answer ends when its caller leaves: nothing that is sent behind it would ever be answered. */
export function markEndless(reply: FastifyReply): void {
  const { socket } = reply.request.raw
  endless.add(socket)
  whenTaken(reply, () => endless.delete(socket))
}

export function isEndless(socket: Socket): boolean {
  return endless.has(socket)
}
