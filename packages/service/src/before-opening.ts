/** What can be found out before the data is opened: a start that is refused leaves the directory as it was. */
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import type { ServiceConfig } from './config.ts'
import { isLoopback } from './loopback.ts'
import { StartFailure } from './start-failure.ts'
import { mayHaveKeys } from './stores/sqlite/file.ts'

export async function refuseEarly(config: ServiceConfig, isDevelopment: boolean): Promise<void> {
  refuseFile(config)
  const hasKeys = config.adminKey !== undefined || (config.store === 'sqlite' && mayHaveKeys(config.data))
  refuseTooOpen(config, { isDevelopment, hasKeys })
  await tryAddress(config)
}

/** A store would only say that it cannot be opened. */
function refuseFile({ store, data }: ServiceConfig): void {
  if (store !== 'sqlite' || !isKnownAsFile(data)) return
  throw new StartFailure({
    code: 'no-directory',
    what: `${data} is not a directory`,
    because: 'The data is kept in a directory: tasks.db, what belongs to it, and large bodies.',
    next: [`secondwind serve --data ${dirname(data)}/secondwind`],
  })
}

/** What is not there will be made, and what cannot be looked at is for the store to tell. */
function isKnownAsFile(path: string): boolean {
  try {
    return !statSync(path).isDirectory()
  } catch {
    return false
  }
}

/** Whoever can reach a service without keys could have requests sent in its name, and read everybody's tasks. */
export function refuseTooOpen(
  { host }: ServiceConfig,
  { isDevelopment, hasKeys }: { readonly isDevelopment: boolean; readonly hasKeys: boolean },
): void {
  if (isLoopback(host) || (hasKeys && !isDevelopment)) return
  const what = `${host} can be reached from other machines`
  if (isDevelopment)
    throw new StartFailure({
      code: 'dev-exposed',
      what,
      because: 'In development targets on this machine may be called by whoever asks: it is for loopback alone.',
      next: ['secondwind dev', `secondwind serve --host ${host} --admin-key-file admin.key`],
    })
  throw new StartFailure({
    code: 'no-keys',
    what,
    because: 'The service has no keys: everybody could have requests sent in its name.',
    next: [
      `node -p "require('crypto').randomBytes(32).toString('hex')" > admin.key && chmod 600 admin.key`,
      `secondwind serve --host ${host} --admin-key-file admin.key`,
    ],
  })
}

/** Listens for a moment. Whoever takes the address in between is found out by the API, which listens for good. */
async function tryAddress(config: ServiceConfig): Promise<void> {
  const { host, port } = config
  const server = createServer()
  try {
    server.listen({ host, port })
    await once(server, 'listening')
  } catch (error) {
    throw listenFailure(error, config)
  }
  server.close()
  await once(server, 'close')
}

export function listenFailure(error: unknown, { host, port }: ServiceConfig): StartFailure {
  const { code, message } = error as NodeJS.ErrnoException
  const isTaken = code === 'EADDRINUSE'
  return new StartFailure({
    code: isTaken ? 'port-taken' : 'cannot-listen',
    what: `${host}:${port} cannot be listened on`,
    because: isTaken ? 'Another program listens there, perhaps a service that is already running.' : message,
    next: [isTaken ? 'secondwind doctor' : 'secondwind serve --host 127.0.0.1'],
    cause: error,
  })
}
