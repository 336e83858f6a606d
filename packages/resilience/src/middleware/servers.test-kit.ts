import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve as serveHono, type HttpBindings } from '@hono/node-server'
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

/** What an earlier middleware waits for. */
export type Before = (request: IncomingMessage) => Promise<void>

export type Start = (handle: Handle, options?: AdmissionOptions, before?: Before) => Promise<Server>

/** The same server behind each of the frameworks. Posts are parsed first, which is where contexts get lost. */
export const FRAMEWORKS: { readonly [name: string]: Start } = {
  async 'node:http'(handle, options, before) {
    const admission = createAdmission(options)
    const listener = async (request: IncomingMessage, response: { end(body: string): void }): Promise<void> =>
      response.end(await handle(arrivalOf(request)!, request.url!))
    const admitted = admission.http((request, response) => void listener(request, response))
    const later: RequestListener = (request, response) => void before!(request).then(() => admitted(request, response))
    return { url: await listening(createServer(before ? later : admitted)), admission }
  },

  async express(handle, options, before) {
    const admission = createAdmission(options)
    const answer = async (request: express.Request, response: express.Response): Promise<void> =>
      void response.end(await handle(arrivalOf(request)!, request.url))
    const app = express()
    if (before)
      app.use(async (request, _response, next) => {
        await before(request)
        next()
      })
    app.use(admission.express)
    app.use(express.json())
    app.use((request, response) => void answer(request, response))
    return { url: await listening(createServer(app)), admission }
  },

  async fastify(handle, options, before) {
    const admission = createAdmission(options)
    const app = fastify({ forceCloseConnections: true })
    if (before) app.addHook('onRequest', ({ raw }) => before(raw))
    app.register(admission.fastify)
    app.all('/*', async ({ raw }) => handle(arrivalOf(raw)!, raw.url!))
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    onTestFinished(() => app.close())
    return { url, admission }
  },

  async hono(handle, options, before) {
    const admission = createAdmission(options)
    const app = new Hono<{ Bindings: HttpBindings }>()
    if (before)
      app.use(async (context, next) => {
        await before(context.env.incoming)
        await next()
      })
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
