import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve as serveHono } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { onTestFinished } from 'vitest'
import { arrivalOf, createAdmission, type Admission, type AdmissionOptions, type Arrival } from './index.ts'

/** What a test does with each request: the body of the answer. */
export type Handle = (arrival: Arrival, path: string) => string | Promise<string>

export interface Server {
  readonly url: string
  readonly admission: Admission
}

export type Start = (handle: Handle, options?: AdmissionOptions) => Promise<Server>

/** The same server behind each of the frameworks. Posts are parsed first, which is where contexts get lost. */
export const FRAMEWORKS: { readonly [name: string]: Start } = {
  async 'node:http'(handle, options) {
    const admission = createAdmission(options)
    const listener = async (request: IncomingMessage, response: { end(body: string): void }): Promise<void> =>
      response.end(await handle(arrivalOf(request)!, request.url!))
    return {
      url: await listening(createServer(admission.http((request, response) => void listener(request, response)))),
      admission,
    }
  },

  async express(handle, options) {
    const admission = createAdmission(options)
    const answer = async (request: express.Request, response: express.Response): Promise<void> =>
      void response.end(await handle(arrivalOf(request)!, request.url))
    const app = express()
    app.use(admission.express)
    app.use(express.json())
    app.use((request, response) => void answer(request, response))
    return { url: await listening(createServer(app)), admission }
  },

  async fastify(handle, options) {
    const admission = createAdmission(options)
    const app = fastify({ forceCloseConnections: true })
    app.register(admission.fastify)
    app.all('/*', async ({ raw }) => handle(arrivalOf(raw)!, raw.url!))
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    onTestFinished(() => app.close())
    return { url, admission }
  },

  async hono(handle, options) {
    const admission = createAdmission(options)
    const app = new Hono()
    app.use(admission.hono)
    app.all('/*', async context => {
      if (context.req.method === 'POST') await context.req.json()
      return context.text(await handle(arrivalOf(context.req.raw)!, context.req.path))
    })
    let url = ''
    await new Promise<void>(resolve => {
      const server = serveHono({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
        url = `http://127.0.0.1:${port}`
        resolve()
      })
      onTestFinished(() => closed(server as ReturnType<typeof createServer>))
    })
    return { url, admission }
  },
}

async function listening(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => closed(server))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function closed(server: ReturnType<typeof createServer>): Promise<void> {
  return new Promise(resolve => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
