import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Door } from './admission.ts'
import type { RefusedRequest } from './decide.ts'

export type NodeMiddleware = (request: IncomingMessage, response: ServerResponse, next: () => void) => void

export function handleNode(door: Door, request: IncomingMessage, response: ServerResponse, next: () => void): void {
  const refuse = ({ status, headers, body }: RefusedRequest): void => void response.writeHead(status, headers).end(body)
  arriveOnNode(door, { request, response }, next, refuse)
}

/** A visit that lasts until the response is closed: sent to its end, or cut off. */
export function arriveOnNode(
  door: Door,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  enter: () => void,
  refuse: (refused: RefusedRequest) => void,
): void {
  const { url, headers } = request
  const visit = door.arrive({ url, headers, key: request }, enter, refuse)
  response.once('close', () => visit.end(response.writableFinished ? response.statusCode : undefined))
  visit.begin()
}
