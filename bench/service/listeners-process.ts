/** Those who listen, in a process of their own: each a connection to `/events`, read as fast as it comes and thrown away. */
import { get } from 'node:http'

export type ListenersOrder =
  | { readonly kind: 'listen'; readonly url: string; readonly count: number }
  | { readonly kind: 'tell' }

export type ListenersAnswer =
  | { readonly kind: 'listening' }
  | { readonly kind: 'told'; readonly bytes: number; readonly stillThere: number }

let bytes = 0
let stillThere = 0

process.on('message', (order: ListenersOrder) => {
  switch (order.kind) {
    case 'listen':
      return void Promise.all(Array.from({ length: order.count }, () => listen(order.url))).then(() =>
        tell({ kind: 'listening' }),
      )
    case 'tell':
      return tell({ kind: 'told', bytes, stillThere })
  }
})

// Its parent is gone, or has no more use for it.
process.on('disconnect', () => process.exit())

function listen(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(`${url}/events`, { agent: false }, response => {
      if (response.statusCode !== 200) return reject(new Error(`/events answered ${response.statusCode}`))
      stillThere++
      response.on('data', (chunk: Buffer) => void (bytes += chunk.length))
      response.on('close', () => void stillThere--)
      response.on('error', () => {})
      resolve()
    })
    request.on('error', reject)
  })
}

function tell(answer: ListenersAnswer): void {
  process.send!(answer)
}
