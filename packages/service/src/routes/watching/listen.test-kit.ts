import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { onTestFinished } from 'vitest'
import { heardIn, type Heard } from '../../telemetry/stream/stream.test-kit.ts'

export interface Listening {
  readonly response: IncomingMessage
  /** All that came so far. */
  readonly text: () => string
  readonly heard: () => Heard[]
  readonly lastId: () => string
  /** Until the text is as it should be; a test that waits in vain ends by its own time-out. */
  readonly until: (isRight: (text: string) => boolean) => Promise<void>
  readonly closed: Promise<void>
  readonly leave: () => void
}

/** A real connection to `/events`, left with the test. */
export async function listenTo(
  port: number,
  query = '',
  headers: { readonly [name: string]: string } = {},
): Promise<Listening> {
  const asked = request({
    host: '127.0.0.1',
    port,
    path: `/events${query}`,
    headers: { accept: 'text/event-stream', ...headers },
  })
  asked.on('error', () => {})
  asked.end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  let text = ''
  response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  response.on('error', () => {})
  const closed = new Promise<void>(resolve => response.once('close', () => resolve()))
  onTestFinished(() => void asked.destroy())
  const until: Listening['until'] = async isRight => {
    while (!isRight(text)) await once(response, 'data')
  }
  // From then on whatever comes is news.
  await until(all => /^: listening\nid: .*\n\n/m.test(all))
  return {
    response,
    text: () => text,
    heard: () => heardIn(text),
    lastId: () => text.match(/(?<=^id: ).*$/gm)!.at(-1)!,
    until,
    closed,
    leave: () => void asked.destroy(),
  }
}
