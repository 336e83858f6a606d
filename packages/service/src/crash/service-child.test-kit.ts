/** A service in a process of its own, until it is killed. Started with its directory; writes down where it listens. */
import { writeSync } from 'node:fs'
import { DEFAULT_CONFIG } from '../config.ts'
import { startService } from '../service.ts'

const [data] = process.argv.slice(2) as [string]
const { url } = await startService({
  config: { ...DEFAULT_CONFIG, port: 0, data, concurrency: 20 },
  isDevelopment: true,
  log: () => undefined,
  logLevel: 'error',
})
writeSync(1, `${url}\n`)
