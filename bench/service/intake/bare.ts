/** The yardstick of intake: node:http that parses the same JSON and answers 201; nothing is checked, nothing is kept. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Intake } from './intake.ts'

export const open = async (): Promise<Intake> => {
  const server = createServer(receive).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/retry-tasks`,
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function receive(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = []
  request.on('data', chunk => chunks.push(chunk))
  request.on('end', () => {
    const task = JSON.parse(Buffer.concat(chunks).toString())
    const taskId = randomUUID()
    const answer = JSON.stringify({ taskId, idempotencyKey: task.idempotencyKey, status: 'PENDING' })
    response.writeHead(201, { 'content-type': 'application/json', location: `/retry-tasks/${taskId}` })
    response.end(answer)
  })
}
