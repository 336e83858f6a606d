import { CONFIG_SETTING, SETTINGS, variableOf } from '@secondwind/service/config'
import { nearest } from '../input/nearest.ts'

const PREFIX = 'SECONDWIND_'

/** Behind the prefix, in which nobody's slip is looked for: those of the service, and of who talks to it. */
const KNOWN: readonly string[] = [
  ...[...SETTINGS, CONFIG_SETTING].map(setting => variableOf(setting).slice(PREFIX.length)),
  'URL',
  'KEY',
  'TENANT',
]

/** Kubernetes puts these into every container beside a service that is called secondwind. */
const OF_KUBERNETES = /^(?:SERVICE_(?:HOST|PORT)|PORT_\d)/

/**
 * What is called like a variable of ours and is none, in a sentence each. No error: an environment is shared, by a newer
 * version for example.
 */
export function strangeVariables(environment: NodeJS.ProcessEnv = process.env): readonly string[] {
  return Object.keys(environment)
    .flatMap(name => (name.startsWith(PREFIX) ? [name.slice(PREFIX.length)] : []))
    .filter(name => !KNOWN.includes(name) && !OF_KUBERNETES.test(name))
    .map(name => {
      const meant = nearest(name, KNOWN)
      const hint = meant === undefined ? '' : `; did you mean ${PREFIX}${meant}?`
      return `${PREFIX}${name} is set, and nobody reads it${hint}`
    })
}
