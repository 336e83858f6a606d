import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Door } from './admission.ts'
import type { RefusedRequest } from './decide.ts'

export type NodeMiddleware = (request: IncomingMessage, response: ServerResponse, next: () => void) => void

export function handleNode(door: Door, request: IncomingMessage, response: ServerResponse, next: () => void): void {
  const refuse = ({ status, headers, body }: RefusedRequest): void => void response.writeHead(status, headers).end(body)
  arriveOnNode(door, { request, response }, next, refuse)
}

/**
 * A visit that lasts until the response is closed: sent to its end, or cut off. Where that happened before we were asked,
 * while an earlier middleware waited, nothing is begun: nobody would say when to end it.
 */
export function arriveOnNode(
  door: Door,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  enter: () => void,
  refuse: (refused: RefusedRequest) => void,
): void {
  if (response.closed || response.destroyed || request.socket.destroyed) return
  const { url, headers } = request
  const visit = door.arrive({ url, headers, key: request }, enter, refuse)
  const end = (): void => visit.end(response.writableFinished ? response.statusCode : undefined)
  response.once('close', end)
  // Of pipelined requests, the responses that wait for an earlier one are not told when their connection is lost.
  if (response.socket === null) {
    request.socket.once('close', end)
    response.once('close', () => request.socket.off('close', end))
  }
  visit.begin()
}
